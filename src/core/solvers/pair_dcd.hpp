#pragma once

#include "solvers/pair_descent.hpp"

namespace dualgap {

/// Two-variable dual descent with a free intercept, from `answer.beta` (empty: zero) and `answer.b`.
void pair_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control);

}  // namespace dualgap
