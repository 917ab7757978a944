// hinge: max(0, 1 − yz). Dual a = yβ ∈ [0, c], conjugate term a. (000 eq. 2, 003)
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct Hinge {
  static constexpr const char* name = "hinge";
  static constexpr Targets targets = Targets::sign;
  static constexpr bool smooth = false, kinked = true, shrinks = true;
  static constexpr int check_every = 1;

  double value(double y, double z) const { return std::max(0.0, 1 - y * z); }
  double dual(double y, double, double beta) const { return y * beta; }
  double bend(double) const { return 0.0; }
  Interval box(double y, double c) const { return margin_box(y, c); }
  [[gnu::always_inline]] Step prox(double y, double c, double beta, double z, double q) const {
    return bounded_step(beta, y - z, q, box(y, c));
  }
  double slack(double y, double c, double beta, double z) const { return box_slack(beta, y - z, box(y, c)); }
};

}  // namespace dualgap
