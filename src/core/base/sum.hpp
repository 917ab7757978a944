// Compensated summation (Neumaier 1974): the error of a sum does not grow with the number of terms.
#pragma once

#include <cmath>

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

}  // namespace dualgap
