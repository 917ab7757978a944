// sdca: stochastic dual coordinate ascent.
//
//   min over w of  (λ/2)‖w‖² + (1/n) Σ φᵢ(xᵢᵀw),   λ = 1/(nC),   α = β/C,   w = (1/λn) Σ αᵢxᵢ = Σ βᵢxᵢ
//
//   draw i:  Δ ← argmax −φᵢ*(−(αᵢ + Δ)) − (λn/2)‖w + Δxᵢ/(λn)‖²,   αᵢ ← αᵢ + Δ,   w ← w + Δxᵢ/(λn)
//
// In the house's scaling that is the coordinate step of every loss, so the loop is descent.cpp's.
//
// Source: 004; Shalev-Shwartz, Zhang, JMLR 2013: procedure SDCA, SDCA-Perm (order: permuted), with replacement (order:
// random), and their modified stochastic gradient start (begin: sgd), whose text 004 §2.2 lost:
//   for t = 1 … n:  αₜ ← argmax −φₜ*(−α) − (λt/2)‖w + αxₜ/(λt)‖²,   w ← (1/λt) Σ_{i≤t} αᵢxᵢ
// What differs, and why:
// - T is not known beforehand, since the judged gap ends the fit: where the paper averages over, or draws from, the
//   later half of the steps, the ends of epochs are weighted by k³ (15/16 of the weight is in the later half). The same
//   weights serve w and α, so the average is a dual feasible pair (the set is convex).
// - The start is the first epoch, in runs of eight neighbouring rows like the others, and its end counts in the
// average.
// - Rows of unequal cost: the start's λt becomes the share of the costs seen so far.
// - Nothing is shrunk: the analysis draws from all rows.
//
// Cost of an epoch: two reads of each row. Memory: 44 bytes a row (52 for the average and the draw), 24 a feature.
#include "solvers/sdca.hpp"

namespace dualgap {

void sdca(const Problem& problem, Answer& answer, const SdcaOptions& options, Control& control) {
  DescentOptions descent;
  descent.name = "sdca";
  descent.order = options.order;
  descent.begin = options.begin;
  descent.output = options.output;
  descent.shrinking = false;
  descent.seed = options.seed;
  descend(problem, answer, descent, control);
}

}  // namespace dualgap
