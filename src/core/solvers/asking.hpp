// When is the judge to be asked? A solver sums an estimate of its gap as it goes; how the judge's word compares with
// that estimate is learned at every question, so that the next one comes when the answer will be yes.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace dualgap {

class Asking {
 public:
  /// `estimate`: of the relative gap.
  bool due(double estimate, Index iteration, double tol) const {
    return estimate * ratio_ <= tol || iteration >= 2 * last_ + 20;
  }
  /// `relative_gap`: what it was.
  void learn(double relative_gap, double estimate, Index iteration) {
    last_ = iteration;
    if (estimate > 0 && std::isfinite(relative_gap)) ratio_ = std::clamp(1.05 * relative_gap / estimate, 0.02, 20.0);
  }

 private:
  double ratio_ = 0.6;  // judged gap / estimate
  Index last_ = 0;
};

}  // namespace dualgap
