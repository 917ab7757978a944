// squared: ½(y − z)². Any β, conjugate term yβ − β²/(2c).
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct Squared {
  static constexpr const char* name = "squared";
  static constexpr Targets targets = Targets::real;
  static constexpr bool smooth = true, kinked = false, shrinks = false;
  static constexpr int check_every = 1;

  double value(double y, double z) const { return 0.5 * (y - z) * (y - z); }
  double dual(double y, double c, double beta) const { return c > 0 ? y * beta - beta * beta / (2 * c) : 0.0; }
  double bend(double c) const { return 1 / c; }
  Interval box(double, double c) const { return c > 0 ? Interval{-infinity, infinity} : Interval{0, 0}; }
  Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    return bounded_step(beta, y - z - beta / c, q + 1 / c, box(y, c));
  }
  double slack(double y, double c, double beta, double z) const {
    return c > 0 ? -std::abs(y - z - beta / c) : infinity;
  }
};

}  // namespace dualgap
