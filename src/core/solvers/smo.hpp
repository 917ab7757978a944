// smo: sequential minimal optimisation (smo.cpp says what it does).
#pragma once

#include "solvers/pairs.hpp"

namespace dualgap {

struct SmoOptions : PairOptions {
  enum class Selection { most_violating, second_order };
  Selection selection = Selection::second_order;
};

/// Continues from answer.beta (empty: a start of its own); leaves the point and the work done there.
void smo(const KernelProblem& problem, Answer& answer, const SmoOptions& options, const Court& court, Control& control);

}  // namespace dualgap
