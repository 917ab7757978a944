// svdd-dcd: the smallest ball around most of the rows (support vector data description).
//
//   min over a, R² of  R² + C Σ max(0, ‖xᵢ − a‖² − R²)
//   max over α of      Σ αᵢ‖xᵢ‖² − ‖a‖²,   a = Σ αᵢxᵢ,   0 ≤ αᵢ ≤ C,   Σα = 1
//
//   for pairs (i, j):  d ← clip((½‖xᵢ‖² − xᵢᵀa − ½‖xⱼ‖² + xⱼᵀa) / ‖xᵢ − xⱼ‖²),   αᵢ ← αᵢ + d,   αⱼ ← αⱼ − d,
//                      a ← a + d(xᵢ − xⱼ)
//
// In the house's words, at half the scale: pinball loss with quantile 1 and targets ½‖xᵢ‖², cᵢ = C, w = a, b = ½(R² −
// ‖a‖²), Σβ = 1, and a unit of 2. So the loop is pair_descent.cpp's and the judge is the one judge.
//
// Source: 000 §IX; Chou, Lin, Lin, SDM 2020; Chang, Lee, Lin 2013 for the ends of C: below 1/n the ball is a point, the
// mean, and above 1 nothing changes. The start is the mean: all rows alike.
//
// Cost of an epoch and memory as pair-dcd.
#include "solvers/svdd_dcd.hpp"

namespace dualgap {

void svdd_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control) {
  if (answer.beta.empty()) answer.beta.assign(problem.n(), 1.0 / static_cast<double>(problem.n()));
  descend_pairs(problem, answer, options, control);
}

}  // namespace dualgap
