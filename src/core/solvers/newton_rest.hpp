// The rows of a kinked loss that rest at a bound: who they are, what they add to the objective, which is linear, and
// when they must be looked at again. Newton does not watch them in between (newton_focus.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "simd/dot.hpp"
#include "solvers/newton_rows.hpp"

namespace dualgap {

/// w, and b where there is an intercept.
struct Place {
  std::vector<double> w;
  double b = 0;
};

template <class Loss>
class NewtonRest {
 public:
  using Sums = typename NewtonRows<Loss>::Sums;

  NewtonRest(const Problem& problem, const Loss& loss, Passes& passes, NewtonRows<Loss>& rows)
      : problem_(problem), loss_(loss), passes_(passes), rows_(rows), n_(problem.n()), p_(problem.p()) {}

  /// Their part of the objective at (w, b), and its slope along a direction; zero where all rows are watched.
  double value(ConstVector w, double b) const { return anyone() ? rows_.resting.dual - slope(w, b) : 0.0; }
  double pull(ConstVector w, double b) const { return anyone() ? -slope(w, b) : 0.0; }

  /// A step of this length was taken.
  void note_step(double length) { pace_ = std::max(length, calming * pace_); }
  /// A move of this squared length changes the scores of so many rows by `moved`, squared and summed. Never of rows
  /// chosen for lying near their corners, which a step is made not to move.
  void note_sway(double moved, double squared_length, Index rows) {
    if (!(squared_length > 0) || rows == 0) return;
    sway_ = std::max(std::sqrt(moved / (static_cast<double>(rows) * squared_length)), 0.7 * sway_);
  }

  /// Looks away from the rows whose β would be the same wherever w goes within some steps like the last ones: `pace_`
  /// is their length, `sway_` what a unit of it does to a score. Not worth it unless nearly all rest. v = Xᵀβ.
  bool narrow(const std::vector<double>& w, double b, ConstVector v) {
    if (!(pace_ > 0)) return true;
    limit_ = margin * pace_;
    const double reach = 3 * sway_ * limit_;
    const auto rests = [&](Index i) {
      return !(rows_.slope[i] > 0) && stays(i, rows_.z[i] - reach) && stays(i, rows_.z[i] + reach);
    };
    Index some = 0, resting = 0;
    for (Index i = 0; i < n_; i += std::max<Index>(1, n_ / 1000), ++some) resting += rests(i);
    if (4 * resting < 3 * some) return true;
    RowNumbers awake = rows_.where(rows_.resting, [&](Index i, Sums& s) {
      if (!rests(i)) return true;
      s.dual += rows_.dual(i, rows_.beta[i]);
      s.beta += rows_.beta[i];
      s.size += std::abs(rows_.beta[i]);
      return false;
    });
    if (awake.empty()) {
      rows_.resting = {};
      return true;
    }
    rows_.focus.watch(std::move(awake));
    seen_ = {w, b};
    v_.assign(p_, 0.0);
    if (rows_.resting.size > 0 && !passes_.combination(rows_.focus.rows(), rows_.beta, v_)) return false;
    for (Index j = 0; j < p_; ++j) v_[j] = rows_.resting.size > 0 ? v[j] - v_[j] : 0.0;
    return true;
  }

  /// Is this place beyond where they are known to rest?
  bool too_far(const Place& place) const { return anyone() && squared_way(place) > limit_ * limit_; }

  /// Looks at them at the place that t of the move leads to. Those that would not rest there are watched from now on
  /// (`woken`), and the step has to be chosen again; where there are none, `end_here` knows the scores of all rows.
  bool meet(const Place& place, ConstVector move, double t, bool& woken) {
    met_.resize(n_);
    if (!passes_.scores(place.w, place.b, met_)) return false;
    std::vector<bool> watched(n_);
    for (const auto i : rows_.focus.rows()) watched[i] = true;
    RowNumbers risen, all;
    double moved = 0;
    for (Index i = 0; i < n_; ++i) {
      if (!watched[i]) moved += (met_[i] - rows_.z[i]) * (met_[i] - rows_.z[i]);
      const bool wakes = !watched[i] && !stays(i, met_[i]);
      if (wakes) risen.push_back(static_cast<std::uint32_t>(i));
      if (wakes || watched[i]) all.push_back(static_cast<std::uint32_t>(i));
    }
    note_sway(moved, squared_way(place), n_ - rows_.focus.count());
    woken = !risen.empty();
    if (!woken) return true;
    std::vector<double> ray(risen.size()), change(p_);
    if (!passes_.scores(risen, move.first(p_), intercept_of(move), ray)) return false;
    if (rows_.resting.size > 0 && !passes_.combination(risen, rows_.beta, change)) return false;
    for (std::size_t k = 0; k < risen.size(); ++k) {
      const Index i = risen[k];
      rows_.ray[i] = ray[k];
      rows_.z[i] = met_[i] - t * ray[k];
      rows_.resting.dual -= rows_.dual(i, rows_.beta[i]);
      rows_.resting.beta -= rows_.beta[i];
      rows_.resting.size -= std::abs(rows_.beta[i]);
    }
    for (Index j = 0; j < p_; ++j) v_[j] -= change[j];
    rows_.focus.watch(std::move(all));
    return true;
  }

  /// All rows are watched again, where they were met; or their scores are the caller's to know.
  void end_here() {
    rows_.z.swap(met_);
    end();
  }
  void end() {
    rows_.resting = {};
    rows_.focus.watch_everyone();
  }

 private:
  static constexpr double calming = 0.2;  // steps may be so much shorter than those before at once
  static constexpr double margin = 4;     // so many steps like the last may pass before all rows are looked at

  bool anyone() const { return !rows_.focus.everyone(); }
  double slope(ConstVector w, double b) const { return dot(v_, w) + rows_.resting.beta * b; }
  double intercept_of(ConstVector move) const { return static_cast<Index>(move.size()) > p_ ? move[p_] : 0.0; }

  bool stays(Index i, double score) const {
    return loss_.prox(problem_.y[i], problem_.cost(i), rows_.center[i], score, rows_.smoothing(i)).beta ==
           rows_.beta[i];
  }

  /// From where they were seen to rest.
  double squared_way(const Place& place) const {
    double square = (place.b - seen_.b) * (place.b - seen_.b);
    for (Index j = 0; j < p_; ++j) square += (place.w[j] - seen_.w[j]) * (place.w[j] - seen_.w[j]);
    return square;
  }

  const Problem& problem_;
  const Loss& loss_;
  Passes& passes_;
  NewtonRows<Loss>& rows_;
  const Index n_, p_;
  std::vector<double> v_;  // their Xᵀβ
  RowVector met_;          // scores of all rows
  Place seen_;             // where they were seen to rest
  double pace_ = 0, sway_ = 0, limit_ = 0;
};

}  // namespace dualgap
