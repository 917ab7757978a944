// decomposition: working sets of q ≥ 2 variables (decomposition.cpp says what it does).
#pragma once

#include "solvers/pairs.hpp"

namespace dualgap {

struct DecompositionOptions : PairOptions {
  Index working_set = 1024;  // q
};

void decomposition(const KernelProblem& problem, Answer& answer, const DecompositionOptions& options,
                   const Court& court, Control& control);

}  // namespace dualgap
