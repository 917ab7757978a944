// smo: sequential minimal optimisation, two variables at a time.
//
//   min ½βᵀKβ + Σ h(βᵢ),  Σβ fixed         (pairs.hpp; for the hinge this is ½αᵀQα − eᵀα, yᵀα = 0, 0 ≤ α ≤ c)
//
//   i ← argmin over βᵢ < high of the slope upwards
//   j ← argmax over βⱼ > low of the slope downwards               (most violating: 002 eq. 7; Keerthi et al. 2001)
//     or of (slope downⱼ − slope upᵢ)² / (kᵢᵢ + kⱼⱼ − 2kᵢⱼ)       (second order: Fan, Chen, Lin, JMLR 2005, WSS 2)
//   βᵢ ← βᵢ + t,  βⱼ ← βⱼ − t,  t exact and cut to the joint interval;  g ← g + t(K·ᵢ − K·ⱼ)
//
// Source: 001, 002 §2.1; Platt 1998. What differs, and why: the relative gap stops it, not the violation of a pair; the
// update of g and the search for the next i are one pass; shrunk rows stand behind the active ones, so every pass is
// over neighbours in memory; kernel rows come from an LRU cache, or all of K is made first (`precomputed`).
//
// Cost of an iteration: two passes over the active rows and two kernel rows where they are not in the cache; an epoch
// is n/2 iterations. Memory: the cache, 80 bytes a row, and a float32 copy of the rows.
#include "solvers/smo.hpp"

#include <algorithm>

namespace dualgap {

namespace {

/// True: the answer stands, or another precision must go on.
template <class T>
bool run(const KernelProblem& problem, Answer& answer, const SmoOptions& options, const Court& court,
         Control& control) {
  Pairs<T> pairs(problem, court, options, control);
  const Index look_every = std::clamp<Index>(problem.n() / 10, 10, 200);  // a look costs about what a step does
  std::vector<const T*> rows;
  bool going = pairs.start(answer);
  for (Index iteration = 1; going; ++iteration) {
    Pair pair = pairs.most_violating();
    if (!(pair.violation > 0)) {
      going = !pairs.converged(answer);
      continue;
    }
    if (options.selection == SmoOptions::Selection::second_order) {
      const std::uint32_t first = static_cast<std::uint32_t>(pairs.row_of(pair.i));
      if (!pairs.gram().fetch(std::span(&first, 1), pairs.active(), rows)) break;
      pair.j = pairs.best_partner(pair, rows[0]);
    }
    const std::uint32_t both[2] = {static_cast<std::uint32_t>(pairs.row_of(pair.i)),
                                   static_cast<std::uint32_t>(pairs.row_of(pair.j))};
    if (!pairs.gram().fetch(std::span(both, both[0] == both[1] ? 1 : 2), pairs.active(), rows)) break;
    const bool moved = pairs.step(pair, rows[0], rows.back());
    ++answer.iterations;
    if (!moved)
      going = !pairs.converged(answer);
    else if (iteration % look_every == 0)
      going = !pairs.consider(answer, 2.0 * look_every);
    else
      going = !control.tick(2 * pairs.active());
  }
  if (pairs.wants_float64() && !control.stopped()) return false;
  pairs.finish(answer);
  return true;
}

}  // namespace

void smo(const KernelProblem& problem, Answer& answer, const SmoOptions& options, const Court& court,
         Control& control) {
  if (run<float>(problem, answer, options, court, control)) return;
  if (!run<double>(problem, answer, options, court, control)) control.stop(Status::stalled);
}

}  // namespace dualgap
