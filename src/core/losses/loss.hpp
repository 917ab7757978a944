// What a loss is. Everything that solves, judges or certifies stands on these few functions of one row, so a new loss
// is one header with this shape and one line in list.hpp.
//
//   value(y, z)             ℓ(y, z)
//   dual(y, c, β)           −c ℓ*(y, −β/c), for β in box(y, c)
//   box(y, c)               the β for which that is finite
//   prox(y, c, β, z, q)     B = argmax −c ℓ*(−B/c) − z(B − β) − ½q(B − β)², and slope = −∂B/∂z ≥ 0
//                           q = ‖x‖²: the exact coordinate step; any other q > 0: the loss smoothed around β;
//                           q = 0: −c ℓ′(z), or at a kink the β in the subdifferential nearest to the one given
//   rough(y, c, β, z, q)    only where prox costs logarithms: a B that leaves less than a hundredth of the gradient.
//                           Descent needs no more before it looks at the next row
//   slack(y, c, β, z)       how far z may still move before this row wants to leave the bound it sits at (> 0),
//                           or minus the size of its projected gradient (≤ 0)
//   steepest(c, cℓ, δ)      only where slopes cost logarithms: a bound on c|ℓ′| within δ of a score with that value
//   bend(c)                 where the conjugate term is yβ − ½ bend(c) β² inside the box: its curvature, for c > 0.
//                           Losses of another shape have none, and methods go by `prox` alone
//
// and constants: name, targets (sign: y = ±1; real), smooth (plain Newton needs no smoothing), kinked (the value has
// a corner), shrinks (rows can come to rest at an end of their box), check_every (Fenchel–Young terms are summed over
// every so many rows where they cost logarithms). c = 0 (no weight) and q = 0 (an empty row) are ordinary arguments.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/types.hpp"

namespace dualgap {

enum class Targets { sign, real };

struct Step {
  double beta, slope;
};

/// The step of a loss whose conjugate is linear inside its box: from `beta`, a pull (the gradient) over a curvature.
/// Curvature 0 sends the row to the end the pull points to.
[[gnu::always_inline]] inline Step bounded_step(double beta, double pull, double curvature, Interval box) {
  if (!(curvature > 1e-305)) return {pull > 0 ? box.high : pull < 0 ? box.low : box.clip(beta), 0.0};
  const double inverse = 1 / curvature, free = beta + pull * inverse;  // without branches: who is where is chance
  return {box.clip(free), ((free > box.low) & (free < box.high)) ? inverse : 0.0};
}

/// The slack of a row in a box: `pull` is the gradient of the dual at β.
inline double box_slack(double beta, double pull, Interval box) {
  if (box.low == box.high) return infinity;
  if (beta <= box.low) return -pull;
  if (beta >= box.high) return pull;
  return -std::abs(pull);
}

/// The box of a margin loss: a = yβ in [0, c].
inline Interval margin_box(double y, double c) { return {std::min(y * c, 0.0), std::max(y * c, 0.0)}; }

/// The coordinate step as descent takes it: rough where the loss has such a step.
template <class Loss>
[[gnu::always_inline]] inline double descent_step(const Loss& loss, double y, double c, double beta, double z,
                                                  double q) {
  if constexpr (requires { loss.rough(y, c, beta, z, q); })
    return loss.rough(y, c, beta, z, q);
  else
    return loss.prox(y, c, beta, z, q).beta;
}

inline double soft(double x, double t) { return x > t ? x - t : x < -t ? x + t : 0.0; }

}  // namespace dualgap
