// The exact step of one pair: d maximises the dual along (βᵢ + d, βⱼ − d),
//
//   f(d) = ψᵢ(βᵢ + d) + ψⱼ(βⱼ − d) − d(zᵢ − zⱼ) − ½qd²,   ψ = −cℓ*(−·/c),   q = ‖xᵢ − xⱼ‖².
//
// Where ψ is quadratic inside its box (`bend`) that is one division and a clip to both boxes. Otherwise the price m at
// which the two rows' own steps cancel: prox(βᵢ, zᵢ + m, q/2) − βᵢ = −(prox(βⱼ, zⱼ + m, q/2) − βⱼ). Both sides fall in
// m with known slopes, so Newton's method held in a bracket finds it, for every loss there is or will be.
#pragma once

#include "losses/loss.hpp"

namespace dualgap {

struct PairSide {
  double beta, y, c, z;
};

/// How far d may go before one of the two rows leaves its box.
inline Interval pair_room(const Interval& i, const PairSide& a, const Interval& j, const PairSide& b) {
  return {std::min(0.0, std::max(i.low - a.beta, b.beta - j.high)),
          std::max(0.0, std::min(i.high - a.beta, b.beta - j.low))};
}

template <class Loss>
double cleared_step(const Loss& loss, const PairSide& a, const PairSide& b, double half, double price) {
  double low = -infinity, high = infinity, reach = 1e-3 * (1 + std::abs(price)), d = 0;
  for (int k = 0; k < 100; ++k) {
    const Step s = loss.prox(a.y, a.c, a.beta, a.z + price, half), t = loss.prox(b.y, b.c, b.beta, b.z + price, half);
    const double up = s.beta - a.beta, down = b.beta - t.beta, miss = up - down, slope = s.slope + t.slope;
    d = 0.5 * (up + down);
    if (std::abs(miss) <= 1e-3 * (std::abs(up) + std::abs(down))) break;
    (miss > 0 ? low : high) = price;
    double next = slope > 0 ? price + miss / slope : infinity;
    if (!(next > low && next < high)) {
      if (low > -infinity && high < infinity) {
        next = 0.5 * (low + high);
        if (next <= low || next >= high) break;
      } else {
        next = miss > 0 ? price + reach : price - reach;
        reach *= 4;
      }
    }
    price = next;
  }
  return d;
}

/// `size`: ‖xᵢ‖² + ‖xⱼ‖², beside which a q of 0 (equal rows) is raised where a jump would have to be resolved; the step
/// is then a little short, never wrong. `price`: where to begin the search.
template <class Loss>
double pair_step(const Loss& loss, const PairSide& a, const PairSide& b, double q, double size, double price) {
  if (a.c <= 0 || b.c <= 0) return 0;
  const Interval room = pair_room(loss.box(a.y, a.c), a, loss.box(b.y, b.c), b);
  if constexpr (requires { loss.bend(1.0); }) {
    const double bend_a = loss.bend(a.c), bend_b = loss.bend(b.c);
    const double pull = (a.y - a.z - bend_a * a.beta) - (b.y - b.z - bend_b * b.beta);
    return bounded_step(0.0, pull, q + bend_a + bend_b, room).beta;
  } else {
    return room.clip(cleared_step(loss, a, b, std::max({0.5 * q, 1e-9 * size, 1e-12}), price));
  }
}

}  // namespace dualgap
