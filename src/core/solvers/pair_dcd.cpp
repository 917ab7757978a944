// pair-dcd: two-variable dual descent, for an intercept that is not penalised.
//
//   max over β of  D(β) = −½‖w‖² − Σ cᵢ ℓ*(yᵢ, −βᵢ/cᵢ),   w = Σ βᵢxᵢ,   Σβ = 0      (the documents' yᵀα = 0)
//
//   for pairs (i, j):  q ← ‖xᵢ − xⱼ‖²,   d ← argmax D along (+1, −1) in both boxes,   βᵢ ← βᵢ + d,   βⱼ ← βⱼ − d,
//                      w ← w + d(xᵢ − xⱼ)
//
// Source: 000 §VI; Chiu, Lin, Lin, SDM 2020. What differs, and why:
// - The greedy choice pairs rows that disagree about the present intercept, in the order they are met; no sorted list
// of
//   gradients is kept, since reading them all anew costs as much as an epoch (pair_descent.cpp).
// - Rows are shrunk as in dcd, by one threshold for every loss.
// - b comes from the interval that the optimality conditions of all rows leave, by minimising P(w, ·), not from one
// row.
// - Every loss has an exact pair step, by `prox` where there is no closed form (pair_step.hpp).
// - The gap decides, and the primal point is the better of the averaged and the last w, as in dcd.
//
// The loop is pair_descent.cpp's. Cost of an epoch: one read of each active row, and about six more for a row that
// moves. Memory: 52 bytes a row, 24 a feature.
#include "solvers/pair_dcd.hpp"

namespace dualgap {

void pair_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control) {
  descend_pairs(problem, answer, options, control);
}

}  // namespace dualgap
