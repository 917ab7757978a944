// squared_hinge: max(0, 1−yz)². Dual a = yβ ≥ 0, conjugate term a − a²/(4c). (002 eq. 10, 003)
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct SquaredHinge {
  static constexpr const char* name = "squared_hinge";
  static constexpr Targets targets = Targets::sign;
  static constexpr bool smooth = true, kinked = false, shrinks = true;
  static constexpr int check_every = 1;

  double value(double y, double z) const {
    const double m = std::max(0.0, 1 - y * z);
    return m * m;
  }
  double dual(double y, double c, double beta) const { return c > 0 ? y * beta - beta * beta / (4 * c) : 0.0; }
  double bend(double c) const { return 1 / (2 * c); }
  Interval box(double y, double c) const { return margin_box(y, c > 0 ? infinity : 0.0); }
  Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    if (q == 0) {  // Newton's step, without divisions
      const double m = std::max(0.0, 1 - y * z);
      return {2 * c * y * m, m > 0 ? 2 * c : 0.0};
    }
    return bounded_step(beta, y - z - beta / (2 * c), q + 1 / (2 * c), box(y, c));
  }
  double slack(double y, double c, double beta, double z) const {
    return box_slack(beta, c > 0 ? y - z - beta / (2 * c) : 0.0, box(y, c));
  }
};

}  // namespace dualgap
