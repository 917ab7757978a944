// What Newton's method keeps of each row, and the loops over rows that need no data: β and its slope from the scores,
// and their sums along a ray. Threaded in fixed blocks with ordered sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/pick.hpp"
#include "base/row_vector.hpp"
#include "base/team.hpp"
#include "passes/passes.hpp"
#include "problem/problem.hpp"
#include "simd/table.hpp"
#include "solvers/newton_focus.hpp"

namespace dualgap {

template <class Loss>
class NewtonRows {
 public:
  /// Sums over rows at the scores z + t·ray.
  struct Sums {
    double loss = 0, dual = 0, beta = 0, size = 0, along = 0, moved = 0;
    void add(const Sums& s) {
      loss += s.loss;
      dual += s.dual;
      beta += s.beta;
      size += s.size;
      along += s.along;
      moved += s.moved;
    }
  };

  /// The logistic loss costs transcendental functions: wide instructions take many margins at once.
  static constexpr bool has_many = std::is_same_v<Loss, Logistic>;

  NewtonRows(const Problem& problem, const Loss& loss, Team& team)
      : focus(problem.n()), problem_(problem), loss_(loss), team_(team), n_(problem.n()) {
    for (RowVector* values : {&z, &ray, &center, &beta, &slope, &combined}) zeros(team, *values, n_);
  }

  RowVector z, ray;        // scores, and their change along the move
  RowVector center, beta;  // β = step(center, z, q)
  RowVector slope;         // its derivative, zero outside the zone
  RowVector combined;      // the β whose Xᵀβ is known
  double q = 0;            // the smoothing
  Focus focus;
  Sums sums, resting;  // of all rows at the last scores; of the resting ones

  Interval box(Index i) const { return loss_.box(problem_.y[i], problem_.cost(i)); }
  double dual(Index i, double value) const { return loss_.dual(problem_.y[i], problem_.cost(i), value); }

  /// `inside`: the values of so many rows watched, from place `first`, each within its box; and the dual's terms there.
  void bound(Index first, Index count, const double* values, double* inside, double* terms) const {
    const Loss loss = loss_;
    Index k = 0;
    focus.each(first, first + count, [&](Index i) {
      const double y = problem_.y[i], c = problem_.cost(i), a = inside[k] = loss.box(y, c).clip(values[k]);
      if constexpr (has_many)
        terms[k] = c > 0 ? std::min(std::abs(a), c - std::abs(a)) / c : 0.0;
      else
        terms[k] = loss.dual(y, c, a);
      ++k;
    });
    if constexpr (has_many) {
      simd::active().entropy(terms, terms, count);
      k = 0;
      focus.each(first, first + count, [&](Index i) { terms[k++] *= problem_.cost(i); });
    }
  }

  /// The smoothing of a row: q, for long rows as many times more as they are longer than most.
  double smoothing(Index i) const { return stretch_.empty() ? q : q * stretch_[i]; }

  /// Looks for such rows, once: their scores have fewer digits, and so has β = center + (score's distance)/q. True: it
  /// found some now.
  bool measure(Passes& passes, double& epochs) {
    if (std::exchange(measured_, true)) return false;
    RowVector squares(static_cast<std::size_t>(n_));
    if (!passes.squares(squares)) return false;
    epochs += 1;
    const double most = many_times * median(squares);
    if (!(most > 0) || !(std::ranges::max(squares) > most)) return false;
    for (double& square : squares) square = std::max(1.0, square / most);
    stretch_ = std::move(squares);
    longest_ = most;
    return true;
  }

  /// The smoothed loss around the middle of the row's box, at its present score.
  Step middle(Index i, double q) const {
    const double y = problem_.y[i], c = problem_.cost(i);
    const Interval box = loss_.box(y, c);
    return loss_.prox(y, c, 0.5 * (box.low + box.high), z[i], q);
  }

  /// A few thousand rows that can speak for all.
  RowNumbers some() const {
    RowNumbers list;
    for (Index i = 0; i < n_; i += std::max<Index>(1, n_ / 4000)) list.push_back(static_cast<std::uint32_t>(i));
    return list;
  }

  /// A q near the given one for which about this part of the listed rows is in the zone.
  double q_for_zone(const RowNumbers& list, double q, double part) const {
    const auto wide = [&](double candidate) {
      const auto inside = std::ranges::count_if(list, [&](Index i) { return middle(i, candidate).slope > 0; });
      return static_cast<double>(inside) >= part * static_cast<double>(list.size());
    };
    if (wide(q))
      for (int k = 0; k < 60 && wide(0.5 * q); ++k) q *= 0.5;
    else
      for (int k = 0; k < 60 && !wide(q); ++k) q *= 2;
    return q;
  }

  /// 4·scale/C: the smoothing that makes a loss as wide as the targets. A sample may have no costs at all.
  double width_of_targets() const {
    double targets = 0, costs = 0;
    for (Index i = 0; i < n_; ++i) {
      targets += Loss::targets == Targets::sign ? 1.0 : std::abs(problem_.y[i]);
      costs += problem_.cost(i);
    }
    return costs > 0 ? 4 * (targets > 0 ? targets : static_cast<double>(n_)) / costs : 0.0;
  }

  /// The smoothing to begin with: no less than the mean ‖x‖², which keeps a huge C from starting on a kink. Where some
  /// of a few rows are long, all are measured.
  double first_q(Passes& passes, double& epochs) {
    RowVector squares;
    std::visit(
        [&](const auto& rows) {
          for (Index i = 0; i < n_; i += std::max<Index>(1, n_ / 2000)) squares.push_back(squared_norm(rows, i));
        },
        problem_.rows);
    if (std::ranges::max(squares) > many_times * median(squares)) measure(passes, epochs);
    double sum = 0;
    for (const double square : squares) sum += std::min(square, longest_);
    return std::max({width_of_targets(), sum / static_cast<double>(squares.size()), 1e-300});
  }

  /// β, slope and the sums at z + t·ray.
  void evaluate(double t) {
    std::vector<Sums> parts(static_cast<std::size_t>(focus.blocks().count));
    team_.for_each(focus.blocks().count,
                   [&](Index k) { parts[k] = evaluate(focus.blocks().begin(k), focus.blocks().end(k), t); });
    add_up(parts);
  }
  /// The same for places [begin, end) of the rows watched; add_up makes one of all their sums.
  Sums evaluate(Index begin, Index end, double t) {
    Sums s;
    if constexpr (has_many) {
      for_many(begin, end, t, [&](Index i, double score, double value, double share) {
        const double c = problem_.cost(i);
        beta[i] = problem_.y[i] * c * share;
        slope[i] = c * share * (1 - share);
        s.loss += c * value;
        s.dual += c * value + beta[i] * score;
        s.beta += beta[i];
        s.size += std::abs(beta[i]);
        s.along += beta[i] * ray[i];
      });
    } else {
      Batch side;
      for (Index first = begin; first < end; first += batch) {
        const Index count = std::min(batch, end - first);
        fetch(first, count, t, side);
        if (Loss::smooth && q == 0)
          weigh<Loss::smooth>(side, count, [](Index) { return 0.0; });
        else
          with_smoothing(side, [&](auto smoothing) { weigh<false>(side, count, smoothing); });
        for (Index k = 0; k < count; ++k) {
          s.loss += side.loss[k];
          s.dual += side.dual[k];
          s.beta += side.beta[k];
          s.size += std::abs(side.beta[k]);
          s.along += side.beta[k] * side.ray[k];
          s.moved += side.ray[k] * side.ray[k];
        }
        Index k = 0;
        focus.each(first, first + count, [&](Index i) {
          beta[i] = side.beta[k];
          slope[i] = side.slope[k++];
        });
      }
    }
    return s;
  }
  void add_up(const std::vector<Sums>& parts) {
    sums = resting;
    for (const Sums& part : parts) sums.add(part);
  }

  /// The watched rows for which f(i, sums) is true, in order, and the blocks' sums; f runs on every thread.
  template <class F>
  RowNumbers where(Sums& sums, F f) {
    return where_among(sums, [&](Index begin, Index end, Sums& part, auto take) {
      focus.each(begin, end, [&](Index i) { take(i, f(i, part)); });
    });
  }
  /// The same where f(begin, end, sums, take) looks at places of the rows watched, and calls take(i, whether) for each.
  template <class F>
  RowNumbers where_among(Sums& sums, F f) {
    std::vector<Sums> parts(static_cast<std::size_t>(focus.blocks().count));
    RowNumbers list = pick(team_, focus.blocks(), [&](Index k, auto take) {
      Sums part;
      f(focus.blocks().begin(k), focus.blocks().end(k), part, take);
      parts[k] = part;
    });
    for (const Sums& part : parts) sums.add(part);
    return list;
  }

  /// The losses' part of the slope along the ray, −Σ β ray at z + t·ray, over the watched rows.
  double pull(double t) const {
    std::vector<double> parts(static_cast<std::size_t>(focus.blocks().count));
    team_.for_each(focus.blocks().count, [&](Index k) {
      double s = 0;
      if constexpr (has_many)
        for_many(focus.blocks().begin(k), focus.blocks().end(k), t, [&](Index i, double, double, double share) {
          s -= problem_.y[i] * problem_.cost(i) * share * ray[i];
        });
      else
        s = pull(focus.blocks().begin(k), focus.blocks().end(k), t);
      parts[k] = s;
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  }

  /// Σβ = 0 by the rows that are free to move, in proportion to their slopes.
  void onto_zero_sum(Vector target) const {
    const double slopes = std::accumulate(slope.begin(), slope.end(), 0.0);
    if (!(slopes > 0)) return;
    for (Index i = 0; i < n_; ++i)
      if (slope[i] > 0)
        target[i] = loss_.box(problem_.y[i], problem_.cost(i)).clip(target[i] - sums.beta * slope[i] / slopes);
  }

 private:
  static constexpr Index batch = 256;
  static constexpr double many_times = 1e8;  // the median ‖x‖²: rows beyond it are long
  static double median(RowVector values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  /// Rows side by side, so that the compiler takes several at once and none is a branch: who is where is chance.
  struct Batch {
    double y[batch], c[batch], center[batch], score[batch], ray[batch];
    double loss[batch], dual[batch], beta[batch], slope[batch];
    double q[batch];  // only where some rows are long
  };
  void fetch(Index first, Index count, double t, Batch& side) const {
    Index k = 0;
    focus.each(first, first + count, [&](Index i) {
      side.y[k] = problem_.y[i];
      side.c[k] = problem_.cost(i);
      side.center[k] = center[i];
      side.ray[k] = ray[i];
      side.score[k] = z[i] + t * ray[i];
      ++k;
    });
    k = 0;
    if (!stretch_.empty()) focus.each(first, first + count, [&](Index i) { side.q[k++] = smoothing(i); });
  }

  /// f(smoothing of the k-th): one number for all, which saves a division a row, unless some are long.
  template <class F>
  void with_smoothing(const Batch& side, F f) const {
    if (stretch_.empty())
      f([q = q](Index) { return q; });
    else
      f([&](Index k) { return side.q[k]; });
  }

  /// β, its slope and both terms of the rows fetched. Where a smooth loss is not smoothed further Fenchel–Young is
  /// tight.
  template <bool Tight, class Smoothing>
  void weigh(Batch& side, Index count, Smoothing smoothing) const {
    const Loss loss = loss_;
    for (Index k = 0; k < count; ++k) {
      const double y = side.y[k], c = side.c[k], score = side.score[k], value = loss.value(y, score);
      const Step step = loss.prox(y, c, side.center[k], score, smoothing(k));
      side.beta[k] = step.beta;
      side.slope[k] = step.slope;
      side.loss[k] = c > 0 ? c * value : 0.0;
      side.dual[k] = Tight ? side.loss[k] + step.beta * score : loss.dual(y, c, step.beta);
    }
  }

  double pull(Index begin, Index end, double t) const {
    double s = 0;
    Batch side;
    const Loss loss = loss_;
    for (Index first = begin; first < end; first += batch) {
      const Index count = std::min(batch, end - first);
      fetch(first, count, t, side);
      with_smoothing(side, [&](auto smoothing) {
        for (Index k = 0; k < count; ++k)
          side.beta[k] = loss.prox(side.y[k], side.c[k], side.center[k], side.score[k], smoothing(k)).beta;
      });
      for (Index k = 0; k < count; ++k) s -= side.beta[k] * side.ray[k];
    }
    return s;
  }

  /// f(i, score, ℓ, share) for the rows [begin, end) at z + t·ray, many at a time.
  template <class F>
  void for_many(Index begin, Index end, double t, F f) const {
    double margin[batch], value[batch], share[batch];
    for (Index first = begin; first < end; first += batch) {
      const Index count = std::min(batch, end - first);
      for (Index k = 0; k < count; ++k) margin[k] = problem_.y[first + k] * (z[first + k] + t * ray[first + k]);
      simd::active().logistic(margin, value, share, count);
      for (Index k = 0; k < count; ++k) f(first + k, problem_.y[first + k] * margin[k], value[k], share[k]);
    }
  }

  const Problem& problem_;
  const Loss& loss_;
  Team& team_;
  const Index n_;
  RowVector stretch_;          // of long rows, one of the others; empty: there are none
  double longest_ = infinity;  // ‖x‖² that is not long
  bool measured_ = false;
};

}  // namespace dualgap
