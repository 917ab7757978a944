// logistic: log(1 + e^{−yz}). Dual a = yβ ∈ [0, c], conjugate term c log c − a log a − (c−a) log(c−a). (003; Yu, Huang,
// Lin 2011)
//
// The coordinate step has no closed form. 003's Newton method in a leaves (0, c) and loses all digits near the ends; in
// the log-odds u = log(a/(c−a)) the condition  u + yz + q(cσ(u) − a₀) = 0  is smooth, monotone with slope ≥ 1, and its
// root lies in [−yz − q(c−a₀), −yz + qa₀]. Newton's step there, held inside the bracket and halving at least, the
// middle otherwise (alone it walks to and fro across the steep part), cannot fail. A wide bracket is cut first: one
// beyond −yz ± 1 needs σ(u) or 1 − σ(u) ≥ 1/(qc).
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct Logistic {
  static constexpr const char* name = "logistic";
  static constexpr Targets targets = Targets::sign;
  static constexpr bool smooth = true, kinked = false, shrinks = false;
  static constexpr int check_every = 8;

  double value(double y, double z) const {
    const double m = y * z;
    return (m > 0 ? 0.0 : -m) + log_one_plus(std::exp(-std::abs(m)));
  }
  double dual(double y, double c, double beta) const {
    const double a = y * beta, rest = c - a, small = std::min(a, rest), big = std::max(a, rest);
    if (c <= 0 || small <= 0) return 0;
    const double share = small / c;
    if (share <= 0) return small * (1 + std::log(c) - std::log(small));  // less than every number
    return -small * std::log(share) - big * log_one_plus(-share);        // log(big / c) would be right to c·1e-16 only
  }
  /// cσ at the farther end is at most c, and at most cℓ there: σ = 1 − e^−ℓ ≤ ℓ, and ℓ rises by no more than the blur.
  double steepest(double c, double value, double blur) const { return std::min(c, value + c * blur); }
  Interval box(double y, double c) const { return margin_box(y, c); }
  Step prox(double y, double c, double beta, double z, double q) const {
    if (c <= 0) return {0, 0};
    const double m = y * z, before = std::clamp(y * beta, 0.0, c);
    if (q <= 0) {
      const Odds s = odds(-m);
      return {y * c * s.a, c * s.a * s.rest};
    }
    const Odds s = root(c, before, m, q, 1e-3);
    const double weight = c * s.a * s.rest;
    return {y * c * s.a, weight / (1 + q * weight)};
  }
  double rough(double y, double c, double beta, double z, double q) const {
    if (c <= 0 || q <= 0) return prox(y, c, beta, z, q).beta;
    return y * c * root(c, std::clamp(y * beta, 0.0, c), y * z, q, 0.24).a;
  }
  double slack(double y, double c, double beta, double z) const {
    const double a = y * beta;
    if (c <= 0) return infinity;
    return -std::abs(c * odds(-y * z).a - a) / c;
  }

 private:
  /// log(1 + x) for −½ ≤ x ≤ 1: the logarithm of the rounded sum, and what rounding took from it. (Twice as fast as
  /// log1p.)
  static double log_one_plus(double x) {
    const double sum = 1 + x;
    return std::log(sum) + (x - (sum - 1)) / sum;
  }
  struct Odds {
    double a, rest;  // σ(u) and 1 − σ(u), both to full relative accuracy
  };
  /// σ(u) at the u with u + m + q(cσ(u) − before) = 0. The first step of at most `near` is the last: σ there
  /// is taken by two terms around u, and the error is at most near² / 6 of the step.
  static Odds root(double c, double before, double m, double q, double near) {
    double low = -m - q * (c - before), high = -m + q * before;
    if (q * c > 64) {
      const double reach = std::log(q * c);
      low = std::max(low, std::min(-m - 1, -reach));
      high = std::min(high, std::max(-m + 1, reach));
    }
    const bool inside = before > 0 && before < c && q * c > near;  // otherwise −m is that near, without a logarithm
    double u = inside ? std::log(before / (c - before)) : -m, last = 2 * (high - low);
    const bool known = inside && u >= low && u <= high;
    u = u < low ? low : u > high ? high : u;
    const double inverse = 1 / c;
    Odds s = known ? Odds{before * inverse, (c - before) * inverse} : odds(u);
    for (int k = 0; k < 100; ++k) {
      const double miss = u + m + q * (c * s.a - before), slope = 1 + q * c * s.a * s.rest;
      (miss > 0 ? high : low) = u;
      if (std::abs(miss) <= 1e-10 * (1 + std::abs(m))) break;
      const double flat = 1 / slope, newton = -miss * flat;
      const double bend = std::abs(newton) < 1 ? 0.5 * newton * (1 - flat) * (s.rest - s.a) : 0.0;
      const double d = newton / (1 + bend);  // Halley's where it is short: errors are cubed
      if (std::abs(d) <= near) {
        const double moved = d * s.a * s.rest * (1 + 0.5 * d * (s.rest - s.a));
        s = {s.a + moved, s.rest - moved};
        break;
      }
      double next = u + d;
      if (!(next > low && next < high && 2 * std::abs(next - u) <= last)) next = 0.5 * (low + high);
      last = std::abs(next - u);
      u = next;
      s = odds(u);
    }
    return s;
  }
  static Odds odds(double u) {
    const double e = std::exp(-std::abs(u)), big = 1 / (1 + e), small = e * big;
    return u > 0 ? Odds{big, small} : Odds{small, big};
  }
};

}  // namespace dualgap
