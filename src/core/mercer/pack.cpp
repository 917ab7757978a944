#include "mercer/pack.hpp"

#include <algorithm>

namespace dualgap {

namespace {
constexpr Index largest_dense = Index{1} << 28;  // values of a dense copy
constexpr double dense_from = 0.08;              // density from which a dense product is the quicker one
}  // namespace

Layout layout_for(const Kernel& kernel, const AnyRows& rows) {
  const Index cells = count_rows(rows) * count_cols(rows);
  if (!kernel.by_product() || rows.index() < 4) return Layout::dense;
  const double density = static_cast<double>(count_entries(rows)) / static_cast<double>(std::max<Index>(cells, 1));
  return density >= dense_from && cells <= largest_dense ? Layout::dense : Layout::sparse;
}

template <class T>
void pack(const AnyRows& rows, const std::uint32_t* ids, Index count, Layout layout, const std::vector<double>& shift,
          Pack<T>& out) {
  out.layout = layout;
  out.count = count;
  out.cols = count_cols(rows);
  out.norms.resize(count);
  out.values.clear();
  out.columns.clear();
  out.starts.clear();
  out.ends.clear();
  if (layout == Layout::dense) out.values.resize(count * out.cols);
  std::visit(
      [&](const auto& r) {
        for (Index k = 0; k < count; ++k) {
          double norm = 0;
          r.view(ids[k], [&](const auto& row) {
            if (layout == Layout::sparse) {
              out.starts.push_back(static_cast<Index>(out.values.size()));
              for (Index e = 0; e < row.size; ++e) {
                out.columns.push_back(static_cast<std::int32_t>(row.column(e)));
                out.values.push_back(static_cast<T>(row.value(e)));
                norm += row.value(e) * row.value(e);
              }
              out.ends.push_back(static_cast<Index>(out.values.size()));
              return;
            }
            T* to = out.values.data() + k * out.cols;
            if (!shift.empty())
              for (Index j = 0; j < out.cols; ++j) to[j] = static_cast<T>(-shift[j]);
            for (Index e = 0; e < row.size; ++e) {
              const Index j = row.column(e);
              to[j] = static_cast<T>(shift.empty() ? row.value(e) : row.value(e) - shift[j]);
            }
            for (Index j = 0; j < out.cols; ++j) norm += static_cast<double>(to[j]) * static_cast<double>(to[j]);
          });
          out.norms[k] = static_cast<T>(norm);
        }
      },
      rows);
}

std::vector<double> common_shift(const Kernel& kernel, const AnyRows& rows, Layout layout) {
  if (!kernel.shift_invariant() || layout == Layout::sparse) return {};
  std::vector<double> mean(count_cols(rows));
  const double share = 1 / static_cast<double>(count_rows(rows));
  std::visit(
      [&](const auto& r) {
        for (Index i = 0; i < r.rows(); ++i) r.add(i, share, mean.data());
      },
      rows);
  return mean;
}

template void pack(const AnyRows&, const std::uint32_t*, Index, Layout, const std::vector<double>&, Pack<float>&);
template void pack(const AnyRows&, const std::uint32_t*, Index, Layout, const std::vector<double>&, Pack<double>&);

}  // namespace dualgap
