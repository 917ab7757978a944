#pragma once

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct TronOptions {
  double mixing = 0.1;    // the preconditioner is (1 − mixing)·I + mixing·diag(H)
  double forcing = 0.1;   // conjugate gradients stop at this share of the gradient, or less as the gradient falls
  Index max_inner = 500;  // products with H in one step
};

/// Trust-region Newton from `answer.w`, `answer.b` (empty: from the combination of `answer.beta`, or zero).
void tron(const Problem& problem, Answer& answer, const TronOptions& options, Control& control);

}  // namespace dualgap
