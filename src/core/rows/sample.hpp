// Which rows a view shows: all of them, or one out of every 2ᵏ in a row, at a place that changes from one group to the
// next (data often has a period: every fourth row of a time series may miss whole columns).
#pragma once

#include "base/types.hpp"

namespace dualgap {

class Sample {
 public:
  constexpr Sample() = default;
  /// One out of `step`, a power of two.
  explicit constexpr Sample(Index step) : mask_(step - 1) {}

  Index step() const { return mask_ + 1; }
  /// The row of the data that is row i of the view.
  [[gnu::always_inline]] Index operator()(Index i) const {
    if (mask_ == 0) return i;
    const auto hash = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
    return i * (mask_ + 1) + (static_cast<Index>(hash >> 40) & mask_);
  }

 private:
  Index mask_ = 0;
};

}  // namespace dualgap
