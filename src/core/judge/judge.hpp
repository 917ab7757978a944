// The judge: how good is (w, b, β)? It recomputes everything from the data in float64 with compensated sums, shares no
// state with any solver, and is the only one who can say "optimal". P(w, b) ≥ P* ≥ D(β) for every w, b and feasible β.
#pragma once

#include <algorithm>

#include "base/sum.hpp"
#include "base/team.hpp"
#include "problem/problem.hpp"

namespace dualgap {

struct Certificate {
  double primal, dual;
  double gap;           // primal − dual
  double relative_gap;  // see the function of that name
  double rounding;      // a first-order bound on the judge's own floating-point error in `gap`
  double moved;         // largest change made to a βᵢ to make β feasible
};

/// Judges the point; β is moved into its bounds and, for a free intercept, onto Σβ = t₀, in place.
Certificate judge(const Problem& problem, ConstVector w, double b, Vector beta, Team& team);

/// P(w, b) alone.
double primal_objective(const Problem& problem, ConstVector w, double b, Team& team);

/// β = −c ℓ′(z) at the scores of (w, b), nearest to the given β where the loss has a kink: the dual point that a primal
/// one implies.
void implied_dual(const Problem& problem, ConstVector w, double b, Vector beta, Team& team);

/// Moves β into its bounds and, for a free intercept, onto Σβ = t₀; the largest change made.
double make_feasible(const Problem& problem, Vector beta);

/// gap / max(|primal|, |dual|, floor). Where the gap is within the rounding it is 0 if that is at most a millionth of
/// the same, or if the optimum is `zero`; otherwise the rounding takes the gap's place.
double relative_gap(double primal, double dual, double rounding, double floor = 0, bool zero = false);

/// Is the optimum 0, seen from a point whose gap is within a rounding that is small beside what there is to gain? It is
/// where b alone fits every row; and a problem with a constraint on Σβ has other zeros.
template <class AnyProblem>
bool is_zero(const AnyProblem& problem, double b, double rounding, double floor) {
  const auto losses_at = [&](double score, double enough) {  // their sum, or what of it is more than enough
    Sum sum;
    std::visit(
        [&](const auto& loss) {
          for (Index i = 0; i < problem.n() && !(sum.value() > enough); ++i)
            if (problem.cost(i) > 0) sum.add(problem.cost(i) * loss.value(problem.y[i], score));
        },
        problem.loss);
    return sum.value();
  };
  return (problem.total != 0 || losses_at(b, rounding) <= rounding) &&
         rounding <= 1e-6 * std::max(losses_at(0.0, infinity), floor);
}

}  // namespace dualgap
