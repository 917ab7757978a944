// The judge of kernel problems: from β alone it makes Kβ again in float64 from the data, finds the thresholds that are
// best for this w, and adds up primal and dual with compensated sums. It knows no solver.
#pragma once

#include "judge/judge.hpp"
#include "mercer/scores.hpp"
#include "problem/kernel_problem.hpp"

namespace dualgap {

struct KernelVerdict {
  Certificate certificate;
  Thresholds thresholds;
  std::vector<double> z;  // Kβ
  double square = 0;      // ‖w‖² = βᵀKβ
};

/// β is moved to be feasible, in place. `patience` as in kernel_scores; where it was given up z is empty.
/// `b`: the intercept of the task `loss`, where it is somebody else's choice. A kernel that shows itself to be not
/// positive semidefinite gets a relative gap of ∞.
KernelVerdict judge(const KernelProblem& problem, Vector beta, Team& team, Patience patience,
                    const double* b = nullptr);

/// The b that minimises Σ cᵢ ℓ(yᵢ, zᵢ + b).
double best_intercept(const KernelProblem& problem, ConstVector z, ConstVector beta);

}  // namespace dualgap
