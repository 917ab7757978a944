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
// over neighbours in memory; kernel rows come in blocks and stay in an LRU cache, and with the second-order choice
// pairs are sought among the rows that are there as long as those are bad enough (`Supply`), or all of K is made first
// (`precomputed`).
//
// Cost of an iteration: two passes over the active rows and two kernel rows where they are not in the cache; an epoch
// is n/2 iterations. Memory: the cache, 80 bytes a row, and a float32 copy of the rows.
#include "solvers/smo.hpp"

#include <algorithm>

namespace dualgap {

namespace {

/// Which pair is next, and its kernel rows. One at a time a row costs a pass over the data; in a block it costs
/// arithmetic, by all threads. So pairs are taken among the rows at hand while the worst of them violates at least half
/// as much as the worst of all; then the rows that violate most are brought, half as many as there are.
template <class T>
class Supply {
 public:
  enum class Found { pair, nothing, given_up };

  Supply(Pairs<T>& pairs, SmoOptions::Selection selection)
      : pairs_(pairs),
        share_(selection == SmoOptions::Selection::second_order ? 0.5 : 1.0),
        most_(share_ < 1 ? std::min<Index>(pairs.gram().capacity() / 4, 256) : 0) {}

  Found next(Pair& pair) {
    pair = pairs_.most_violating_near();
    if (pairs_.all_at_hand()) return pair.violation > 0 ? Found::pair : Found::nothing;
    if (share_ < 1 && pair.violation > share_ * worst_) return Found::pair;
    pairs_.find_extremes();
    const Pair worst = pairs_.most_violating();
    worst_ = worst.violation;
    if (!(worst_ > 0)) return Found::nothing;
    if (share_ < 1 && pair.violation > share_ * worst_) return Found::pair;
    const Index count = std::clamp<Index>(pairs_.at_hand() / 2, std::min<Index>(16, most_), most_);
    if (!pairs_.bring(worst, count, share_)) return Found::given_up;
    pair = share_ < 1 ? pairs_.most_violating_near() : worst;
    return Found::pair;
  }
  /// What was known of the rows is no longer so: positions, gradient or cache have changed.
  void look_again() {
    pairs_.find_near();
    worst_ = infinity;
  }

 private:
  Pairs<T>& pairs_;
  double share_;
  Index most_;
  double worst_ = infinity;
};

/// True: the answer stands, or another precision must go on.
template <class T>
bool run(const KernelProblem& problem, Answer& answer, const SmoOptions& options, const Court& court,
         Control& control) {
  Pairs<T> pairs(problem, court, options, control);
  Supply<T> supply(pairs, options.selection);
  const Index look_every = std::clamp<Index>(problem.n() / 10, 10, 200);  // a look costs about what a step does
  bool going = pairs.start(answer);
  if (going) supply.look_again();
  for (Index iteration = 1; going; ++iteration) {
    Pair pair;
    const auto found = supply.next(pair);
    if (found == Supply<T>::Found::given_up) break;
    bool moved = false;
    if (found == Supply<T>::Found::pair) {
      const T* row_i = pairs.gram().find(pairs.row_of(pair.i), pairs.active());
      if (options.selection == SmoOptions::Selection::second_order) pair.j = pairs.best_partner(pair, row_i);
      const T* row_j = pairs.gram().find(pairs.row_of(pair.j), pairs.active());
      moved = pairs.step(pair, row_i, row_j);
      ++answer.iterations;
    }
    if (moved && iteration % look_every != 0) {
      going = !control.tick(2 * pairs.active());
      continue;
    }
    going = moved ? !pairs.consider(answer, 2.0 * static_cast<double>(look_every)) : !pairs.converged(answer);
    supply.look_again();
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
