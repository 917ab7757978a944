// Compensated summation (Neumaier 1974): the error of a sum does not grow with the number of terms.
#pragma once

#include <cmath>

#include "base/types.hpp"

namespace dualgap {

class Sum {
 public:
  void add(double x) {
    const double t = total_ + x;
    carry_ += std::abs(total_) >= std::abs(x) ? (total_ - t) + x : (x - t) + total_;
    total_ = t;
  }
  double value() const { return std::isfinite(total_) ? total_ + carry_ : total_; }

 private:
  double total_ = 0, carry_ = 0;
};

/// The same for many numbers at a time: sums side by side, in Knuth's form without branches, so that no addition waits
/// for the one before.
class Sums {
 public:
  void add(const double* x, Index n) {
    Index k = 0;
    for (; k + lanes <= n; k += lanes)
      for (Index lane = 0; lane < lanes; ++lane) add(x[k + lane], lane);
    for (Index lane = 0; k < n; ++k, ++lane) add(x[k], lane);
  }
  void add(double x) { add(x, 0); }
  double value() const {
    Sum sum;
    for (const double t : total_) sum.add(t);
    for (Index lane = 0; lane < lanes && std::isfinite(sum.value()); ++lane) sum.add(carry_[lane]);
    return sum.value();
  }

 private:
  static constexpr Index lanes = 8;
  [[gnu::always_inline]] void add(double x, Index lane) {
    const double t = total_[lane] + x, back = t - total_[lane];
    carry_[lane] += (total_[lane] - (t - back)) + (x - back);
    total_[lane] = t;
  }
  double total_[lanes] = {}, carry_[lanes] = {};
};

}  // namespace dualgap
