#pragma once

#include "solvers/pair_descent.hpp"

namespace dualgap {

/// Support vector data description from `answer.beta` (empty: all rows alike).
void svdd_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control);

}  // namespace dualgap
