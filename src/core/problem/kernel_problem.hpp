// Problems over a kernel k(x, y) = φ(x)ᵀφ(y): the rows that take part, their targets and costs, and one of five tasks.
// With w = Σ βᵢφ(xᵢ), z = Kβ and q = βᵀKβ:
//
//   loss        ½q + Σ cᵢ ℓ(yᵢ, zᵢ + b)                          the family of problem.hpp with a free intercept
//   one_class   ½q − tρ + Σ cᵢ max(0, ρ − zᵢ)                    β in [0, c], Σβ = t
//   svdd        R² + Σ cᵢ max(0, k(xᵢ, xᵢ) − 2zᵢ + q − R²)       β in [0, c], Σβ = 1
//   nu_svc      ½q − tρ + Σ cᵢ max(0, ρ − yᵢ(zᵢ + b))            yβ in [0, c], Σβ = ±t/2 over either class
//   nu_svr      ½q + tε + Σ cᵢ max(0, |yᵢ − zᵢ − b| − ε)         β in [−c, c], positive and negative parts sum to t/2
//
// t is `total`. Each but the first is a loss whose threshold is chosen too; ν and 1/n are the border's business.
#pragma once

#include "base/blas.hpp"
#include "mercer/gram.hpp"
#include "problem/problem.hpp"

namespace dualgap {

struct KernelProblem {
  enum class Task { loss, one_class, svdd, nu_svc, nu_svr };

  AnyRows rows;
  Places ids;  // the rows that take part; y, weight and β follow this order
  Kernel kernel;
  const Blas* blas;
  ConstVector y;
  const double* weight;  // nullptr: all ones
  double C;
  Task task;
  AnyLoss loss;                  // task loss
  double total;                  // t of the other tasks
  SharedRows* shared = nullptr;  // kernel values in common with other problems over the same rows; for solvers alone

  Index n() const { return static_cast<Index>(ids.size()); }
  double cost(Index i) const { return weight ? C * weight[i] : C; }
  /// The same targets, costs and loss without the kernel: what feasibility and the sums over rows need.
  Problem flat() const { return {rows, y, weight, C, loss, Intercept::free, 1.0}; }
};

/// What is chosen beside w: b for a loss; ρ, R², (b, ρ), (b, ε) for the other tasks, `second` the ρ or ε of the last
/// two.
struct Thresholds {
  double first = 0, second = 0;
};

/// The intercept that goes with them: φ(x)ᵀw + b is positive for rows inside, for svdd after taking ½k(x, x) away.
inline double intercept_of(KernelProblem::Task task, const Thresholds& best, double square) {
  if (task == KernelProblem::Task::one_class) return -best.first;
  return task == KernelProblem::Task::svdd ? 0.5 * (best.first - square) : best.first;
}
/// What a result calls its threshold: ρ, ε or R².
inline double threshold_of(KernelProblem::Task task, const Thresholds& best) {
  const bool one = task == KernelProblem::Task::one_class || task == KernelProblem::Task::svdd;
  return one ? best.first : best.second;
}

}  // namespace dualgap
