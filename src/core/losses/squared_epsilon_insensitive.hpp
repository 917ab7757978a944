// squared_epsilon_insensitive(ε): max(0, |y−z| − ε)². Any β, conjugate term yβ − ε|β| − β²/(4c). (Ho, Lin 2012)
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct SquaredEpsilonInsensitive {
  static constexpr const char* name = "squared_epsilon_insensitive";
  static constexpr Targets targets = Targets::real;
  static constexpr bool smooth = true, kinked = false, shrinks = true;
  static constexpr int check_every = 1;
  double epsilon;

  double value(double y, double z) const {
    const double excess = std::max(0.0, std::abs(y - z) - epsilon);
    return excess * excess;
  }
  double dual(double y, double c, double beta) const {
    return c > 0 ? y * beta - epsilon * std::abs(beta) - beta * beta / (4 * c) : 0.0;
  }
  Interval box(double, double c) const { return c > 0 ? Interval{-infinity, infinity} : Interval{0, 0}; }
  Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    const double slope = 1 / (q + 1 / (2 * c)), free = soft(q * beta + y - z, epsilon) * slope;
    return {free, free != 0 ? slope : 0.0};
  }
  double slack(double y, double c, double beta, double z) const {
    const double r = y - z;
    if (c <= 0) return infinity;
    if (beta == 0) return epsilon - std::abs(r);
    return -std::abs((beta > 0 ? r - epsilon : r + epsilon) - beta / (2 * c));
  }
};

}  // namespace dualgap
