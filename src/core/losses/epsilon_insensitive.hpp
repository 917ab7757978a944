// epsilon_insensitive(ε): max(0, |y−z| − ε). β ∈ [−c, c], conjugate term yβ − ε|β|. (Ho, Lin 2012)
//
// Three places to rest, not two: −c, 0 and c; slack knows all five cases (at each of them, and between).
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct EpsilonInsensitive {
  static constexpr const char* name = "epsilon_insensitive";
  static constexpr Targets targets = Targets::real;
  static constexpr bool smooth = false, kinked = true, shrinks = true;
  static constexpr int check_every = 1;
  double epsilon;

  double value(double y, double z) const { return std::max(0.0, std::abs(y - z) - epsilon); }
  double dual(double y, double, double beta) const { return y * beta - epsilon * std::abs(beta); }
  Interval box(double, double c) const { return {-c, c}; }
  [[gnu::always_inline]] Step prox(double y, double c, double beta, double z, double q) const {
    const double r = y - z;
    if (q <= 0) {
      const double excess = std::abs(r) - epsilon;
      if (excess > 0) return {r > 0 ? c : -c, 0.0};
      if (excess < 0) return {0.0, 0.0};
      return {r > 0 ? std::clamp(beta, 0.0, c) : std::clamp(beta, -c, 0.0), 0.0};
    }
    const double free = soft(beta + r / q, epsilon / q);
    return {std::clamp(free, -c, c), free != 0 && std::abs(free) < c ? 1 / q : 0.0};
  }
  double slack(double y, double c, double beta, double z) const {
    const double r = y - z;
    if (c <= 0) return infinity;
    if (beta == 0) return epsilon - std::abs(r);
    if (beta >= c) return r - epsilon;
    if (beta <= -c) return -r - epsilon;
    return -std::abs(beta > 0 ? r - epsilon : r + epsilon);
  }
};

}  // namespace dualgap
