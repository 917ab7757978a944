// pinball(τ): τr⁺ + (1−τ)r⁻, r = y − z (quantile regression). β ∈ [−(1−τ)c, τc], conjugate term yβ.
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct Pinball {
  static constexpr const char* name = "pinball";
  static constexpr Targets targets = Targets::real;
  static constexpr bool smooth = false, kinked = true, shrinks = true;
  static constexpr int check_every = 1;
  double quantile;

  double value(double y, double z) const {
    const double r = y - z;
    return r > 0 ? quantile * r : (quantile - 1) * r;
  }
  double dual(double y, double, double beta) const { return y * beta; }
  double bend(double) const { return 0.0; }
  Interval box(double, double c) const { return {-(1 - quantile) * c, quantile * c}; }
  [[gnu::always_inline]] Step prox(double y, double c, double beta, double z, double q) const {
    return bounded_step(beta, y - z, q, box(y, c));
  }
  double slack(double y, double c, double beta, double z) const { return box_slack(beta, y - z, box(y, c)); }
};

}  // namespace dualgap
