#include "mercer/gram.hpp"

#include <algorithm>
#include <map>
#include <type_traits>

namespace dualgap {

namespace {
constexpr Index chunk_bytes = Index{1} << 25;  // what the cache grows by

/// Rows are a whole number of cache lines, and not a whole number of pages apart.
Index stride_for(Index n, Index value_bytes) {
  const Index line = 64 / value_bytes, page = 4096 / value_bytes, stride = (n + line - 1) / line * line;
  return stride % page == 0 ? stride + line : stride;
}
}  // namespace

template <class T>
Gram<T>::Gram(const AnyRows& rows, Places ids, const Kernel& kernel, double budget, Team& team, SharedRows* shared)
    : rows_(rows), ids_(std::move(ids)), kernel_(kernel), team_(team), shared_(shared) {
  const Index n = size();
  diagonal_.resize(n);
  slot_of_.assign(n, -1);
  stride_ = stride_for(n, sizeof(T));
  const double fit = budget / static_cast<double>(stride_ * static_cast<Index>(sizeof(T)));
  capacity_ = std::max<Index>(2, fit < static_cast<double>(n) ? static_cast<Index>(fit) : n);
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
  layout_ = layout_for(kernel_, rows_);
  shift_ = common_shift(kernel_, rows_, layout_);
  stale_ = !all_.pack(rows_, ids_.data(), n, layout_, shift_, team_, Patience::may_leave);
  row_work_ = 16 + (layout_ == Layout::dense ? all_.cols : all_.starts.back() / n);
  if (shared && row_work_ >= worth_sharing && std::is_same_v<T, float>) classes_ = shared->ranges(ids_);
  for (Index k = 0; k < n; ++k) diagonal_[k] = kernel_.of_itself(static_cast<double>(all_.norms[k]));
}

template <class T>
T* Gram<T>::new_row() {
  if (room_ == 0) {
    room_ = std::min(std::max<Index>(1, chunk_bytes / (stride_ * static_cast<Index>(sizeof(T)))),
                     std::max<Index>(1, capacity_ - static_cast<Index>(slots_.size())));
    next_row_ = chunks_.emplace_back(room_ * stride_).data();
  }
  --room_;
  return std::exchange(next_row_, next_row_ + stride_);
}

/// The position's slot, or a new one while the budget lasts, or the one that was not used for longest.
template <class T>
std::int32_t Gram<T>::slot_for(std::uint32_t position) {
  std::int32_t s = slot_of_[position];
  if (s < 0) {
    const bool full = static_cast<Index>(slots_.size()) >= capacity_;
    if (full && order_.oldest() >= 0 && slots_[order_.oldest()].request != request_) {
      s = order_.oldest();
      slot_of_[slots_[s].owner] = -1;
      slots_[s].length = 0;
      order_.use(s);
    } else {
      T* values = new_row();
      s = static_cast<std::int32_t>(slots_.size());
      slots_.emplace_back().values = values;
      order_.resize(s + 1);
      order_.add(s);
    }
    slots_[s].owner = static_cast<std::int32_t>(position);
    slot_of_[position] = s;
  } else {
    order_.use(s);
  }
  slots_[s].request = request_;
  return s;
}

template <class T>
bool Gram<T>::fetch(std::span<const std::uint32_t> positions, Index cols, std::vector<const T*>& out) {
  ++request_;
  for (const std::uint32_t position : positions)  // what is there is not to be driven out by what is not
    if (slot_of_[position] >= 0) slot_for(position);
  out.resize(positions.size());
  std::map<Index, Places> missing;  // by the length that is there
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Slot& slot = slots_[slot_for(positions[k])];
    if (slot.length < cols) missing[slot.length].push_back(positions[k]);
    out[k] = slot.values;
  }
  for (const auto& [from, places] : missing) {
    const bool made = kernel_.shape == Kernel::Shape::precomputed ? make_precomputed(places, from, cols)
                      : classes_.empty()                          ? make(places, from, cols)
                                                                  : make_or_share(places);
    if (!made) return false;
    for (const std::uint32_t position : places) slots_[slot_of_[position]].length = cols;
  }
  return true;
}

template <class T>
bool Gram<T>::make(const Places& positions, Index from, Index to) {
  if (positions.empty() || from == to) return true;
  if (stale_) stale_ = !all_.pack(rows_, ids_.data(), size(), layout_, shift_, team_, Patience::may_leave);
  if (stale_) return false;
  const Index at_once = Left<T>::at_once(layout_, all_.cols), wide = Right<T>::width;
  const Index columns_at_once = std::clamp<Index>(block_work / (at_once * row_work_) / wide * wide, wide, 512);
  const Index begin = from / wide * wide, blocks = (to - begin + columns_at_once - 1) / columns_at_once;
  for (Index row = 0; row < static_cast<Index>(positions.size()); row += at_once) {
    const Index count = std::min<Index>(at_once, static_cast<Index>(positions.size()) - row);
    left_.pick(all_, positions.data() + row, count);
    const auto work_on = [&](Index b) {
      const Index at = begin + b * columns_at_once;
      kernel_block(kernel_, left_, all_, at, std::min(columns_at_once, to - at),
                   [&](Index k) { return slots_[slot_of_[positions[row + k]]].values + at; });
    };
    const bool together = (to - begin) * count * row_work_ > worth_threads;
    bool left = false;
    if (together) left = !team_.try_each(blocks, work_on);
    for (Index b = 0; b < blocks && !together; ++b) work_on(b);
    if (left || (!together && row_work_ * count * to > worth_threads / 8 && team_.between && team_.between()))
      return false;
  }
  return true;
}

/// Whole rows, of which no position has moved yet: the part over their own class is taken from those who made it
/// before, or left for others.
template <class T>
bool Gram<T>::make_or_share(const Places& positions) {
  if constexpr (std::is_same_v<T, float>) {
    Places fresh;
    std::vector<Places> found(classes_.size());
    const auto class_of = [&](std::uint32_t at) {
      const auto after = [](Index place, const SharedRows::Range& range) { return place < range.end; };
      return std::upper_bound(classes_.begin(), classes_.end(), static_cast<Index>(at), after) - classes_.begin();
    };
    const auto own_part = [&](std::uint32_t at) { return slots_[slot_of_[at]].values + classes_[class_of(at)].begin; };
    for (const std::uint32_t at : positions)
      (shared_->read(ids_[at], own_part(at)) ? found[class_of(at)] : fresh).push_back(at);
    for (std::size_t k = 0; k < found.size(); ++k)
      if (!make(found[k], 0, classes_[k].begin) || !make(found[k], classes_[k].end, size())) return false;
    if (!make(fresh, 0, size())) return false;
    for (const std::uint32_t at : fresh) shared_->keep(ids_[at], own_part(at));
    return true;
  }
  return make(positions, 0, size());
}

template <class T>
bool Gram<T>::make_precomputed(const Places& positions, Index from, Index to) {
  std::vector<double> whole(count_cols(rows_));
  return std::visit(
      [&](const auto& r) {
        for (const std::uint32_t position : positions) {
          r.view(ids_[position], [&](const auto& row) {
            for (Index e = 0; e < row.size; ++e) whole[row.column(e)] = row.value(e);
            T* out = slots_[slot_of_[position]].values;
            for (Index j = from; j < to; ++j) out[j] = static_cast<T>(whole[ids_[j]]);
            for (Index e = 0; e < row.size; ++e) whole[row.column(e)] = 0;
          });
          if (team_.between && team_.between()) return false;
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
  }
  if (pairs.empty()) return;
  stale_ = true;
  classes_.clear();
}

template class Gram<float>;
template class Gram<double>;

}  // namespace dualgap
