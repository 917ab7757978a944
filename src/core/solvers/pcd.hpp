#pragma once

#include <cstdint>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct PcdOptions {
  std::uint64_t seed = 0;
};

/// Primal coordinate descent from `answer.w`, `answer.b` (empty: from the combination of `answer.beta`, or zero).
void pcd(const Problem& problem, Answer& answer, const PcdOptions& options, Control& control);

}  // namespace dualgap
