#include "mercer/gram.hpp"

#include <algorithm>
#include <map>

namespace dualgap {

template <class T>
Gram<T>::Gram(const AnyRows& rows, Places ids, const Kernel& kernel, const Blas& blas, double budget, Team& team,
              std::function<bool(Index)> leave)
    : rows_(rows), ids_(std::move(ids)), kernel_(kernel), blas_(blas), team_(team), leave_(std::move(leave)) {
  const Index n = size();
  diagonal_.resize(n);
  slot_of_.assign(n, -1);
  capacity_ = std::clamp<Index>(static_cast<Index>(budget / static_cast<double>(n * sizeof(T))), 2, n);
  rooms_.resize(team_.size() == 1 ? 1 : 2 * team_.size());
  if (kernel_.shape == Kernel::Shape::precomputed) {
    std::visit(
        [&](const auto& r) {
          for (Index k = 0; k < n; ++k)
            r.view(ids_[k], [&](const auto& row) {
              for (Index e = 0; e < row.size; ++e)
                if (row.column(e) == static_cast<Index>(ids_[k])) diagonal_[k] = row.value(e);
            });
        },
        rows_);
    return;
  }
  const Layout layout = layout_for(kernel_, rows_);
  pack(rows_, ids_.data(), n, layout, common_shift(kernel_, rows_, layout), all_);
  for (Index k = 0; k < n; ++k) diagonal_[k] = kernel_.of_itself(static_cast<double>(all_.norms[k]));
}

template <class T>
void Gram<T>::unlink(std::int32_t s) {
  Slot& slot = slots_[s];
  (slot.older >= 0 ? slots_[slot.older].newer : oldest_) = slot.newer;
  (slot.newer >= 0 ? slots_[slot.newer].older : newest_) = slot.older;
}

template <class T>
void Gram<T>::to_front(std::int32_t s) {
  slots_[s].older = newest_;
  slots_[s].newer = -1;
  (newest_ >= 0 ? slots_[newest_].newer : oldest_) = s;
  newest_ = s;
}

/// The position's slot, or a new one while the budget lasts, or the one that was not used for longest.
template <class T>
std::int32_t Gram<T>::slot_for(std::uint32_t position) {
  std::int32_t s = slot_of_[position];
  if (s < 0) {
    const bool full = static_cast<Index>(slots_.size()) >= capacity_;
    if (full && oldest_ >= 0 && slots_[oldest_].request != request_) {
      s = oldest_;
      slot_of_[slots_[s].owner] = -1;
      slots_[s].length = 0;
      unlink(s);
    } else {
      s = static_cast<std::int32_t>(slots_.size());
      slots_.emplace_back().values = std::make_unique_for_overwrite<T[]>(size());
    }
    slots_[s].owner = static_cast<std::int32_t>(position);
    slot_of_[position] = s;
  } else {
    unlink(s);
  }
  to_front(s);
  slots_[s].request = request_;
  return s;
}

template <class T>
bool Gram<T>::fetch(std::span<const std::uint32_t> positions, Index cols, std::vector<const T*>& out) {
  ++request_;
  for (const std::uint32_t position : positions)  // what is there is not to be driven out by what is not
    if (slot_of_[position] >= 0) slots_[slot_of_[position]].request = request_;
  out.resize(positions.size());
  std::map<Index, Places> missing;  // by the length that is there
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Slot& slot = slots_[slot_for(positions[k])];
    if (slot.length < cols) missing[slot.length].push_back(positions[k]);
    out[k] = slot.values.get();
  }
  for (const auto& [from, places] : missing) {
    const bool made =
        kernel_.shape == Kernel::Shape::precomputed ? make_precomputed(places, from, cols) : make(places, from, cols);
    if (!made) return false;
    for (const std::uint32_t position : places) slots_[slot_of_[position]].length = cols;
  }
  return true;
}

template <class T>
void Gram<T>::gather_left(const std::uint32_t* positions, Index count) {
  left_.layout = all_.layout;
  left_.count = count;
  left_.cols = all_.cols;
  left_.values.clear();
  left_.columns.clear();
  left_.starts.clear();
  left_.ends.clear();
  left_.norms.clear();
  for (Index k = 0; k < count; ++k) {
    const Index at = positions[k];
    left_.norms.push_back(all_.norms[at]);
    if (all_.layout == Layout::dense) {
      left_.values.insert(left_.values.end(), all_.row(at), all_.row(at) + all_.cols);
      continue;
    }
    left_.starts.push_back(static_cast<Index>(left_.values.size()));
    for (Index e = all_.starts[at]; e < all_.ends[at]; ++e) {
      left_.values.push_back(all_.values[e]);
      left_.columns.push_back(all_.columns[e]);
    }
    left_.ends.push_back(static_cast<Index>(left_.values.size()));
  }
}

template <class T>
bool Gram<T>::make(const Places& positions, Index from, Index to) {
  const Index wave = static_cast<Index>(rooms_.size());
  for (Index begin = 0; begin < static_cast<Index>(positions.size()); begin += rows_at_once) {
    const Index count = std::min<Index>(rows_at_once, static_cast<Index>(positions.size()) - begin);
    gather_left(positions.data() + begin, count);
    const Index blocks = (to - from + columns_at_once - 1) / columns_at_once;
    const Index work = all_.layout == Layout::dense ? columns_at_once * all_.cols / 16 : columns_at_once * 16;
    for (Index first = 0; first < blocks; first += wave) {
      const auto work_on = [&](Index b) {
        const Index at = from + (first + b) * columns_at_once, size = std::min(columns_at_once, to - at);
        kernel_block(kernel_, blas_, left_, all_, at, size, rooms_[b], [&](Index k, const T* values) {
          std::copy_n(values, size, slots_[slot_of_[positions[begin + k]]].values.get() + at);
        });
      };
      const Index now = std::min(wave, blocks - first);
      if (now * columns_at_once * count * (all_.cols + 16) > worth_threads)
        team_.for_each(now, work_on);
      else
        for (Index b = 0; b < now; ++b) work_on(b);
      if (leave_(wave * work * count)) return false;
    }
  }
  return true;
}

template <class T>
bool Gram<T>::make_precomputed(const Places& positions, Index from, Index to) {
  std::vector<double> whole(count_cols(rows_));
  return std::visit(
      [&](const auto& r) {
        for (const std::uint32_t position : positions) {
          r.view(ids_[position], [&](const auto& row) {
            for (Index e = 0; e < row.size; ++e) whole[row.column(e)] = row.value(e);
            T* out = slots_[slot_of_[position]].values.get();
            for (Index j = from; j < to; ++j) out[j] = static_cast<T>(whole[ids_[j]]);
            for (Index e = 0; e < row.size; ++e) whole[row.column(e)] = 0;
          });
          if (leave_(to)) return false;
        }
        return true;
      },
      rows_);
}

template <class T>
void Gram<T>::swap(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  for (Slot& slot : slots_) {
    Index length = slot.length;
    for (const auto& [a, b] : pairs)
      if (static_cast<Index>(std::max(a, b)) < length)
        std::swap(slot.values[a], slot.values[b]);
      else
        length = std::min<Index>(length, std::min(a, b));
    slot.length = length;
  }
  for (const auto& [a, b] : pairs) {
    std::swap(ids_[a], ids_[b]);
    std::swap(diagonal_[a], diagonal_[b]);
    std::swap(slot_of_[a], slot_of_[b]);
    for (const std::uint32_t at : {a, b})
      if (slot_of_[at] >= 0) slots_[slot_of_[at]].owner = static_cast<std::int32_t>(at);
    if (all_.count == 0) continue;
    std::swap(all_.norms[a], all_.norms[b]);
    if (all_.layout == Layout::dense)
      std::swap_ranges(all_.values.data() + a * all_.cols, all_.values.data() + (a + 1) * all_.cols,
                       all_.values.data() + b * all_.cols);
    else
      std::swap(all_.starts[a], all_.starts[b]), std::swap(all_.ends[a], all_.ends[b]);
  }
}

template class Gram<float>;
template class Gram<double>;

}  // namespace dualgap
