#include "mercer/pack.hpp"

#include <algorithm>

namespace dualgap {

namespace {
constexpr Index largest_dense = Index{1} << 28;  // values of a dense copy
constexpr double dense_from = 0.08;              // density from which a dense product is the quicker one
constexpr Index rows_for_shift = 1024;
constexpr Index piece_values = 1 << 21;  // about what one thread packs at a time

/// Hands every value of a row, less the shift, to put(column, value).
template <class Row, class Put>
void shifted(const Row& row, const std::vector<double>& shift, Put put) {
  if (row.size < static_cast<Index>(shift.size()))
    for (std::size_t j = 0; j < shift.size(); ++j) put(static_cast<Index>(j), -shift[j]);
  if (shift.empty())
    for (Index e = 0; e < row.size; ++e) put(row.column(e), row.value(e));
  else
    for (Index e = 0; e < row.size; ++e) put(row.column(e), row.value(e) - shift[row.column(e)]);
}
}  // namespace

Layout layout_for(const Kernel& kernel, const AnyRows& rows) {
  const Index cells = count_rows(rows) * count_cols(rows);
  if (!kernel.by_product() || rows.index() < 4) return Layout::dense;
  const double density = static_cast<double>(count_entries(rows)) / static_cast<double>(std::max<Index>(cells, 1));
  return density >= dense_from && cells <= largest_dense ? Layout::dense : Layout::sparse;
}

std::vector<double> common_shift(const Kernel& kernel, const AnyRows& rows, Layout layout) {
  if (!kernel.shift_invariant() || layout == Layout::sparse) return {};
  std::vector<double> mean(count_cols(rows));
  const Index n = count_rows(rows), every = std::max<Index>(1, n / rows_for_shift);
  const double share = 1 / static_cast<double>((n + every - 1) / every);
  std::visit(
      [&](const auto& r) {
        for (Index i = 0; i < n; i += every) r.add(i, share, mean.data());
      },
      rows);
  return mean;
}

template <class T>
bool Right<T>::pack(const AnyRows& rows, const std::uint32_t* ids, Index rows_count, Layout wanted,
                    const std::vector<double>& shift, Team& team, Patience patience) {
  layout = wanted;
  count = rows_count;
  cols = count_cols(rows);
  norms.assign((count + width - 1) / width * width, T(0));
  if (layout == Layout::sparse) {
    columns.clear();
    values.clear();
    starts.assign(1, 0);
    std::visit(
        [&](const auto& r) {
          for (Index k = 0; k < count; ++k) {
            double norm = 0;
            r.view(ids[k], [&](const auto& row) {
              for (Index e = 0; e < row.size; ++e) {
                columns.push_back(static_cast<std::int32_t>(row.column(e)));
                values.push_back(static_cast<T>(row.value(e)));
                norm += row.value(e) * row.value(e);
              }
            });
            starts.push_back(static_cast<Index>(values.size()));
            norms[k] = static_cast<T>(norm);
          }
        },
        rows);
    return true;
  }
  panels.reserve((count + width - 1) / width * width * cols);
  const Index piece = std::clamp<Index>(piece_values / cols / width * width, width, 512);
  const Index padded = (count + width - 1) / width * width;
  const auto some = [&](Index block) {
    const Index begin = block * piece, end = std::min(padded, begin + piece);
    std::memset(at(begin), 0, static_cast<std::size_t>((end - begin) * cols) * sizeof(T));
    std::visit(
        [&](const auto& r) {
          for (Index k = begin; k < std::min(end, count); ++k) {
            T* to = at(k);
            r.view(ids[k], [&](const auto& row) {
              shifted(row, shift, [&](Index j, double v) { to[j * width] = static_cast<T>(v); });
            });
          }
        },
        rows);
    for (Index first = begin; first < end; first += width)
      for (Index j = 0; j < cols; ++j)
        for (Index k = 0; k < width; ++k) norms[first + k] += at(first)[j * width + k] * at(first)[j * width + k];
  };
  const Index blocks = (padded + piece - 1) / piece;
  if (count * cols > 1000000 && patience == Patience::may_leave) return team.try_each(blocks, some);
  if (count * cols > 1000000)
    team.for_each(blocks, some);
  else
    for (Index block = 0; block < blocks; ++block) some(block);
  return true;
}

template <class T>
void Left<T>::begin(Layout wanted, Index columns, Index rows) {
  for (const Index at : touched) values.data()[at] = T(0);
  touched.clear();
  layout = wanted;
  cols = columns;
  count = rows;
  values.reserve(cols * count);
  norms.resize(count);
  if (layout == Layout::sparse && table_ < cols * count) {
    std::memset(values.data(), 0, static_cast<std::size_t>(cols * count) * sizeof(T));
    table_ = cols * count;
  }
}

template <class T>
void Left<T>::pack(const AnyRows& rows, const std::uint32_t* ids, Index rows_count, Layout wanted,
                   const std::vector<double>& shift) {
  begin(wanted, count_cols(rows), rows_count);
  std::visit(
      [&](const auto& r) {
        for (Index k = 0; k < count; ++k) {
          T* to = values.data() + k * cols;
          T norm = 0;
          if (layout == Layout::dense && shift.empty()) std::fill_n(to, cols, T(0));
          r.view(ids[k], [&](const auto& row) {
            if (layout == Layout::sparse)
              for (Index e = 0; e < row.size; ++e) {
                const T v = static_cast<T>(row.value(e));
                set(k, row.column(e), v);
                norm += v * v;
              }
            else
              shifted(row, shift, [&](Index j, double v) { to[j] = static_cast<T>(v); });
          });
          if (layout == Layout::dense)
            for (Index j = 0; j < cols; ++j) norm += to[j] * to[j];
          norms[k] = norm;
        }
      },
      rows);
}

template <class T>
void Left<T>::pick(const Right<T>& all, const std::uint32_t* places, Index rows_count) {
  begin(all.layout, all.cols, rows_count);
  for (Index k = 0; k < count; ++k) {
    norms[k] = all.norms[places[k]];
    if (layout == Layout::sparse) {
      for (Index e = all.starts[places[k]]; e < all.starts[places[k] + 1]; ++e) set(k, all.columns[e], all.values[e]);
      continue;
    }
    const T* from = all.at(places[k]);
    for (Index j = 0; j < cols; ++j) values.data()[k * cols + j] = from[j * Right<T>::width];
  }
}

template struct Right<float>;
template struct Right<double>;
template struct Left<float>;
template struct Left<double>;

}  // namespace dualgap
