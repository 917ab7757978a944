#pragma once

#include "solvers/pair_descent.hpp"

namespace dualgap {

/// One-class descent from `answer.beta` (empty: rows at the bound until Σβ = 1).
void oneclass_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control);

}  // namespace dualgap
