// The judge: how good is (w, b, β)? It recomputes everything from the data in float64 with compensated sums, shares no
// state with any solver, and is the only one who can say "optimal". P(w, b) ≥ P* ≥ D(β) for every w, b and feasible β.
#pragma once

#include "base/team.hpp"
#include "problem/problem.hpp"

namespace dualgap {

struct Certificate {
  double primal, dual;
  double gap;           // primal − dual
  double relative_gap;  // gap / max(|primal|, |dual|, floor); 0 where the gap is within a `rounding` that is small, and
                        // rounding / max(…) where that is large
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

/// gap / max(|primal|, |dual|, floor), zero where it is within the rounding.
double relative_gap(double primal, double dual, double rounding, double floor = 0);

}  // namespace dualgap
