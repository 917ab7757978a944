// huber(δ): ½r² for |r| ≤ δ, else δ|r| − ½δ², r = y − z. β ∈ [−δc, δc], conjugate term yβ − β²/(2c).
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct Huber {
  static constexpr const char* name = "huber";
  static constexpr Targets targets = Targets::real;
  static constexpr bool smooth = false, kinked = false, shrinks = true;
  static constexpr int check_every = 1;
  double delta;

  double value(double y, double z) const {
    const double r = std::abs(y - z);
    return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
  }
  double dual(double y, double c, double beta) const { return c > 0 ? y * beta - beta * beta / (2 * c) : 0.0; }
  double bend(double c) const { return 1 / c; }
  Interval box(double, double c) const { return {-delta * c, delta * c}; }
  [[gnu::always_inline]] Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    return bounded_step(beta, y - z - beta / c, q + 1 / c, box(y, c));
  }
  double slack(double y, double c, double beta, double z) const {
    return box_slack(beta, c > 0 ? y - z - beta / c : 0.0, box(y, c));
  }
};

}  // namespace dualgap
