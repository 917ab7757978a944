// smoothed_hinge(γ): 0, (1−yz)²/(2γ), 1−yz−γ/2. Dual a = yβ ∈ [0, c], conjugate term a − γa²/(2c). (004; γ → 0 is the
// hinge)
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct SmoothedHinge {
  static constexpr const char* name = "smoothed_hinge";
  static constexpr Targets targets = Targets::sign;
  static constexpr bool smooth = false, kinked = false, shrinks = true;
  static constexpr int check_every = 1;
  double gamma;

  double value(double y, double z) const {
    const double m = 1 - y * z;
    return m <= 0 ? 0.0 : m >= gamma ? m - gamma / 2 : m * m / (2 * gamma);
  }
  double dual(double y, double c, double beta) const { return c > 0 ? y * beta - gamma * beta * beta / (2 * c) : 0.0; }
  double bend(double c) const { return gamma / c; }
  Interval box(double y, double c) const { return margin_box(y, c); }
  [[gnu::always_inline]] Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    return bounded_step(beta, y - z - gamma * beta / c, q + gamma / c, box(y, c));
  }
  double slack(double y, double c, double beta, double z) const {
    return box_slack(beta, c > 0 ? y - z - gamma * beta / c : 0.0, box(y, c));
  }
};

}  // namespace dualgap
