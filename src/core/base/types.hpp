// The words every room shares: sizes, spans, small value types.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dualgap {

using Index = std::int64_t;
using Vector = std::span<double>;
using ConstVector = std::span<const double>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

struct Interval {
  double low, high;
  double clip(double x) const { return std::min(std::max(x, low), high); }
};

enum class Intercept { none, regularized, free };

}  // namespace dualgap
