// newton: the proximal Newton method.
//
//   min over (w, b) of  F(w, b) = ½‖w‖² + R(b) + Σ ψᵢ(zᵢ),   z = Xw + b,   −ψᵢ′(z) = step(β̄ᵢ, z, q),   ψᵢ″ = slopeᵢ
//
// Outer loop: proximal point on the dual (Rockafellar 1976), centre β̄ ← β and q ← q/5. With q in place of ‖xᵢ‖² the
// step of coordinate descent makes a kinked loss smooth around the last dual point, without changing the answer. Inner
// loop: semismooth Newton (Li, Sun, Toh 2018; Yan, Li 2020; Niu et al. 2022) with an exact line search. Only rows in
// the zone, where slope > 0, are in the Hessian. For smooth losses q = 0 and this is Newton's method.
//
// Where there are many more rows than columns it starts on one row in 4ᵏ (their costs times 4ᵏ) and works its way down
// to all rows, each level only as exactly as its sample can be. And the dual point that certifies is on the tangent of
// the step, not at its end: see try_tangent.
//
// What the easy version gets wrong: the line search must never pass the minimum along the ray; q must start no smaller
// than the mean squared row, or a huge C never gets off the first kink; q must not shrink twice without a step between.
//
// Cost of a step: one pass for the scores of the ray, one over the rows whose β changed, the rows that entered or left
// the zone for the matrix, and its Cholesky. Memory: 76 bytes a row and three d × d matrices, d ≤ p + 1.
#include "solvers/newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "solvers/newton_system.hpp"

namespace dualgap {

namespace {

double squared(ConstVector w) { return std::inner_product(w.begin(), w.end(), w.begin(), 0.0); }

/// Where a level ended: what the next one starts from.
struct Level {
  std::vector<double> w;
  double b = 0, q = 0;
};

template <class Loss>
class Newton {
 public:
  Newton(const Problem& problem, const Loss& loss, const NewtonOptions& options, const Blas& blas, Control& control)
      : problem_(problem),
        loss_(loss),
        options_(options),
        control_(control),
        n_(problem.n()),
        p_(problem.p()),
        ones_(problem.intercept != Intercept::none),
        free_(problem.intercept == Intercept::free),
        reg_b_(problem.intercept == Intercept::regularized ? 1 / problem.scale2() : 0.0),
        passes_(problem.rows, control.team, blas),
        system_(problem, passes_, blas, options.memory, control),
        blocks_(n_, 4096),
        grad_(p_ + (ones_ ? 1 : 0)),
        move_(grad_.size()),
        polish_(control.tol <= 1e-12),
        tangents_(Loss::smooth && !polish_) {}

  /// From a dual point (with w where it is known), or from nothing.
  void start(const Answer& answer) {
    prepare(answer.w, ones_ ? answer.b : 0.0);
    if (!answer.beta.empty()) {
      center_ = answer.beta;
      make_feasible(problem_, center_);
    }
    best_beta_ = center_;
    if constexpr (!Loss::smooth) q_ = options_.q > 0 ? options_.q : first_q();
  }

  /// From the level before. Its scores are off by about √(d/m) of their spread, m its rows: the zone is made as wide as
  /// that part of the rows, and the centre is what the loss so smoothed around the middle of each box says.
  void start(const Level& level, Index rows_before) {
    prepare(level.w, level.b);
    if constexpr (!Loss::smooth) {
      const double doubt = std::sqrt(static_cast<double>(grad_.size()) / static_cast<double>(rows_before));
      q_ = q_for_zone(level.q, std::min(doubt, 0.5));
      for (Index i = 0; i < n_; ++i) center_[i] = middle(i, q_).beta;
    }
    best_beta_ = center_;
  }

  /// A level on a sample: until its gap is within `goal`, without the judge.
  Level sample(double goal) {
    bool going = evaluate(0.0) && combine(0.0);
    while (going) {
      keep_best();
      if (gap_ <= goal || idle_ > 10 || steps_ > 60) break;
      going = outer_step() ? evaluate(0.0) && combine(0.0) : newton_step();
    }
    return {best_w_, best_b_, q_};
  }

  void run(Answer& answer, double epochs) {
    epochs_ += epochs;
    bool going = evaluate(0.0) && combine(0.0);
    while (going) {
      keep_best();
      if (decide(answer)) break;
      going = outer_step() ? evaluate(0.0) && combine(0.0) : newton_step();
    }
    finish(answer);
  }

  double epochs() const { return epochs_; }

 private:
  /// Sums over rows at the scores z + t·ray.
  struct Sums {
    double loss = 0, dual = 0, beta = 0, size = 0, along = 0;
    void add(const Sums& s) {
      loss += s.loss;
      dual += s.dual;
      beta += s.beta;
      size += s.size;
      along += s.along;
    }
  };

  void prepare(const std::vector<double>& w, double b) {
    w_ = w.empty() ? std::vector<double>(p_) : w;
    b_ = b;
    z_.assign(n_, 0.0);
    for (auto* rows : {&ray_, &center_, &beta_, &slope_, &combined_}) rows->assign(n_, 0.0);
    v_.assign(p_, 0.0);
    best_w_ = w_;
    best_b_ = b_;
    if (b_ != 0 || squared(w_) > 0) {
      passes_.scores(w_, b_, z_);
      epochs_ += 1;
    }
  }

  /// The smoothed loss around the middle of the row's box, at its present score.
  Step middle(Index i, double q) const {
    const double y = problem_.y[i], c = problem_.cost(i);
    const Interval box = loss_.box(y, c);
    return loss_.prox(y, c, 0.5 * (box.low + box.high), z_[i], q);
  }

  /// A q near the given one for which about this part of the rows is in the zone.
  double q_for_zone(double q, double part) const {
    const Index step = std::max<Index>(1, n_ / 4000);
    const auto wide = [&](double candidate) {
      Index inside = 0, count = 0;
      for (Index i = 0; i < n_; i += step, ++count) inside += middle(i, candidate).slope > 0;
      return static_cast<double>(inside) >= part * static_cast<double>(count);
    };
    if (wide(q))
      for (int k = 0; k < 60 && wide(0.5 * q); ++k) q *= 0.5;
    else
      for (int k = 0; k < 60 && !wide(q); ++k) q *= 2;
    return q;
  }

  /// max(4·scale/C, mean ‖x‖²): the first makes the smoothed loss as wide as the targets, the second keeps a huge C
  /// from starting on a kink.
  double first_q() const {
    const Index step = std::max<Index>(1, n_ / 2000);
    double squares = 0, targets = 0, costs = 0;
    Index count = 0;
    std::visit(
        [&](const auto& rows) {
          for (Index i = 0; i < n_; i += step, ++count) squares += squared_norm(rows, i);
        },
        problem_.rows);
    for (Index i = 0; i < n_; ++i) {
      targets += Loss::targets == Targets::sign ? 1.0 : std::abs(problem_.y[i]);
      costs += problem_.cost(i);
    }
    const double mean_target = targets > 0 ? targets / static_cast<double>(n_) : 1.0;
    return std::max({4 * mean_target * static_cast<double>(n_) / costs, squares / static_cast<double>(count), 1e-300});
  }

  /// β, slope and the sums at z + t·ray. False: given up.
  bool evaluate(double t) {
    std::vector<Sums> parts(static_cast<std::size_t>(blocks_.count));
    control_.team.for_each(blocks_.count,
                           [&](Index k) { parts[k] = evaluate_block(blocks_.begin(k), blocks_.end(k), t); });
    sums_ = {};
    for (const Sums& part : parts) sums_.add(part);
    return !control_.look();
  }

  /// The logistic loss costs transcendental functions: wide instructions take many margins at once.
  static constexpr bool has_many = std::is_same_v<Loss, Logistic>;
  static constexpr Index batch = 256;

  /// f(i, score, ℓ, share) for the rows of a block at z + t·ray, many at a time.
  template <class F>
  void for_many(Index begin, Index end, double t, F f) const {
    double margin[batch], value[batch], share[batch];
    for (Index first = begin; first < end; first += batch) {
      const Index count = std::min(batch, end - first);
      for (Index k = 0; k < count; ++k) margin[k] = problem_.y[first + k] * (z_[first + k] + t * ray_[first + k]);
      simd::active().logistic(margin, value, share, count);
      for (Index k = 0; k < count; ++k) f(first + k, problem_.y[first + k] * margin[k], value[k], share[k]);
    }
  }

  Sums evaluate_block(Index begin, Index end, double t) {
    Sums s;
    if constexpr (has_many) {
      for_many(begin, end, t, [&](Index i, double z, double value, double share) {
        const double c = problem_.cost(i);
        beta_[i] = problem_.y[i] * c * share;
        slope_[i] = c * share * (1 - share);
        s.loss += c * value;
        s.dual += c * value + beta_[i] * z;
        s.beta += beta_[i];
        s.size += std::abs(beta_[i]);
        s.along += beta_[i] * ray_[i];
      });
      return s;
    }
    for (Index i = begin; i < end; ++i) {
      const double y = problem_.y[i], c = problem_.cost(i), z = z_[i] + t * ray_[i];
      const Step step = loss_.prox(y, c, center_[i], z, q_);
      const double value = c > 0 ? c * loss_.value(y, z) : 0.0;
      beta_[i] = step.beta;
      slope_[i] = step.slope;
      s.loss += value;
      s.dual += Loss::smooth && q_ == 0 ? value + step.beta * z  // Fenchel–Young is tight there
                                        : loss_.dual(y, c, step.beta);
      s.beta += step.beta;
      s.size += std::abs(step.beta);
      s.along += step.beta * ray_[i];
    }
    return s;
  }

  /// The rows for which f(i, sums) is true, in order, and the blocks' sums; f runs on every thread.
  template <class F>
  std::vector<std::uint32_t> rows_where(Sums& sums, F f) {
    std::vector<std::vector<std::uint32_t>> lists(static_cast<std::size_t>(blocks_.count));
    std::vector<Sums> parts(lists.size());
    control_.team.for_each(blocks_.count, [&](Index k) {
      for (Index i = blocks_.begin(k); i < blocks_.end(k); ++i)
        if (f(i, parts[k])) lists[k].push_back(static_cast<std::uint32_t>(i));
    });
    std::vector<std::uint32_t> all;
    for (std::size_t k = 0; k < lists.size(); ++k) {
      all.insert(all.end(), lists[k].begin(), lists[k].end());
      sums.add(parts[k]);
    }
    return all;
  }

  /// Takes the step t that was evaluated: z, v = Xᵀβ by the rows whose β changed, the gradient and both objectives.
  bool combine(double t) {
    Sums none;
    const std::vector<std::uint32_t> changed = rows_where(none, [&](Index i, Sums&) {
      z_[i] += t * ray_[i];
      ray_[i] = beta_[i] - combined_[i];  // the ray has been used: it holds the change of β
      combined_[i] = beta_[i];
      return ray_[i] != 0;
    });
    if (!update_combination(changed)) return false;
    for (Index j = 0; j < p_; ++j) grad_[j] = w_[j] - v_[j];
    if (ones_) grad_[p_] = reg_b_ * b_ - sums_.beta;
    primal_ = 0.5 * squared(w_) + 0.5 * reg_b_ * b_ * b_ + sums_.loss;
    dual_ = -0.5 * squared(v_) - 0.5 * problem_.scale2() * sums_.beta * sums_.beta + sums_.dual;
    if (free_) dual_ -= b_ * sums_.beta;  // what putting Σβ back to zero will cost: the free rows' gradient is b
    return true;
  }

  bool update_combination(RowList changed) {
    const Index count = static_cast<Index>(changed.size());
    if (2 * count > n_ || ++updates_ % 16 == 0) {
      epochs_ += 1;
      return passes_.combination(beta_, v_);
    }
    std::vector<double> change(p_);
    if (!passes_.combination(changed, ray_, change)) return false;
    for (Index j = 0; j < p_; ++j) v_[j] += change[j];
    epochs_ += static_cast<double>(count) / static_cast<double>(n_);
    return true;
  }

  void keep_best() {
    if (primal_ < best_primal_) {
      best_primal_ = primal_;
      best_w_ = w_;
      best_b_ = b_;
    }
    if (dual_ > best_dual_ && level(level_)) {
      best_dual_ = dual_;
      best_beta_ = beta_;
      if (free_) onto_zero_sum();
    }
    gap_ = relative_gap(best_primal_, best_dual_, 0.0);
    if (gap_ < 0.7 * last_gap_) {
      last_gap_ = gap_;
      idle_ = 0;
    }
  }

  /// Σβ = 0 by the rows that are free to move, in proportion to their slopes.
  void onto_zero_sum() {
    const double slopes = std::accumulate(slope_.begin(), slope_.end(), 0.0);
    if (!(slopes > 0)) return;
    for (Index i = 0; i < n_; ++i)
      if (slope_[i] > 0)
        best_beta_[i] =
            loss_.box(problem_.y[i], problem_.cost(i)).clip(best_beta_[i] - sums_.beta * slope_[i] / slopes);
  }

  bool level(double part) const { return !free_ || std::abs(sums_.beta) <= part * sums_.size; }

  /// Asks the judge where our own numbers say that it is time. True: leave.
  bool decide(Answer& answer) {
    const bool due = gap_ * ratio_ <= control_.tol;
    if (control_.epochs_left(epochs_) <= 0 || steps_ >= options_.max_steps) control_.stop(Status::max_iter);
    const bool tired = idle_ > patience && (q_ == 0 || renewed_ >= 2);
    if (control_.stopped() || (!due && !tired && !control_.watched())) return control_.stopped();
    fill(answer);
    const auto purpose = due || tired ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, "newton", epochs_, system_.zone_size(), answer.w, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (tired) control_.stop(Status::stalled);
    if (due && tangents_ && control_.certificate().relative_gap > 2 * gap_) {
      tangents_ = false;  // rounding in the solution of the system: no more of what stands on it
      best_dual_ = -infinity;
      last_gap_ = infinity;
      return tired;
    }
    if (free_ && due && control_.certificate().relative_gap > 2 * gap_) {
      best_dual_ = -infinity;  // Σβ was too far from zero for our estimate: trust only points that are closer
      level_ = std::max(0.1 * level_, 1e-13);
      last_gap_ = infinity;
      return tired;
    }
    if (due && gap_ > 0) ratio_ = std::clamp(1.05 * control_.certificate().relative_gap / gap_, ratio_ * 1.5, 1e6);
    return tired;
  }

  /// The next outer step where the inner problem is solved well enough. True: z is as it was, β is not.
  bool outer_step() {
    if (q_ == 0) return smooth_after_all();
    if (!moved_) return false;
    const double goal = std::max(std::min(gap_, 1.0), control_.tol);
    const bool solved = level(1e-3 * std::sqrt(goal)) && inner_gap() < options_.inner * goal * std::abs(primal_);
    if (idle_ > patience) {  // no progress: back to the best point with a wider smoothing
      ++renewed_;
      idle_ = 0;
      center_ = best_beta_;
      q_ *= 100;
      moved_ = false;
      return true;
    }
    if (!solved) return false;
    center_ = beta_;
    q_ = std::max(q_ / options_.shrink, 1e-300);
    moved_ = false;
    return true;
  }

  /// A smooth loss whose slope has corners is stiff at a huge C: the line search stops at every one of them. Smoothed
  /// around the best dual point, like a kinked loss, it comes loose.
  bool smooth_after_all() {
    if (has_many || idle_ <= stuck || renewed_ > 0) return false;
    ++renewed_;
    idle_ = 0;
    center_ = best_beta_;
    q_ = first_q();
    moved_ = false;
    return true;
  }

  bool newton_step() {
    const double accuracy = std::min(0.1, std::sqrt(std::min(gap_, 1.0)));
    const bool again = Loss::smooth && !polish_ && steady_ && system_.can_solve_again();
    if (!(again ? system_.solve_again(grad_, move_) : system_.solve(slope_, grad_, move_, accuracy))) return false;
    if (!passes_.scores(ConstVector(move_).first(p_), ones_ ? move_[p_] : 0.0, ray_)) return false;
    epochs_ += 1 + system_.take_work();
    const bool exact = tangents_ && !again && system_.exact();
    if (exact) begin_tangent();
    const double t = step_length();
    if (control_.stopped()) return false;
    if (exact && !try_tangent(t)) return false;
    for (Index j = 0; j < p_; ++j) w_[j] += t * move_[j];
    if (ones_) b_ += t * move_[p_];
    ++steps_;
    ++idle_;
    moved_ = true;
    if (!combine(t)) return false;
    const double inner = inner_gap();
    steady_ = t == 1 && inner < (again ? 0.1 : 0.02) * inner_;  // then the matrix may serve once more
    inner_ = inner;
    if (steps_ % 32 == 0 && !passes_.scores(w_, b_, z_)) return false;  // rounding in z does not pile up
    return true;
  }

  void begin_tangent() {
    tangent_.resize(n_);
    spill_.resize(n_);
    control_.team.for_each(blocks_.count, [&](Index k) {
      for (Index i = blocks_.begin(k); i < blocks_.end(k); ++i) tangent_[i] = -slope_[i] * ray_[i];
    });
  }

  /// A second dual point, on the tangent of the step: where the system was solved exactly, β − t·slope·ray has
  /// Xᵀβ = v + t(grad + move) without a pass, and at t = 1 that is the new w. So its gap is what the loss bends along
  /// the step, of third order, where that of the new β is the squared gradient, which no Hessian tempers.
  bool try_tangent(double t) {
    Sums sums;
    const std::vector<std::uint32_t> clipped = rows_where(sums, [&](Index i, Sums& s) {
      const double y = problem_.y[i], c = problem_.cost(i), beta = combined_[i] + t * tangent_[i];
      tangent_[i] = loss_.box(y, c).clip(beta);
      spill_[i] = tangent_[i] - beta;
      s.dual += loss_.dual(y, c, tangent_[i]);
      s.beta += tangent_[i];
      s.size += std::abs(tangent_[i]);
      return spill_[i] != 0;
    });
    if (free_ && std::abs(sums.beta) > level_ * sums.size) return true;
    std::vector<double> v(p_);
    if (!clipped.empty() && !passes_.combination(clipped, spill_, v)) return false;
    for (Index j = 0; j < p_; ++j) v[j] += v_[j] + t * (grad_[j] + move_[j]);
    double dual = sums.dual - 0.5 * squared(v) - 0.5 * problem_.scale2() * sums.beta * sums.beta;
    if (free_) dual -= (b_ + t * move_[p_]) * sums.beta;
    epochs_ += static_cast<double>(clipped.size()) / static_cast<double>(n_);
    if (!(dual > best_dual_)) return true;
    best_dual_ = dual;
    best_beta_.swap(tangent_);
    return true;
  }

  /// The gap of the inner problem: half the squared gradient over the regularised coordinates.
  double inner_gap() const {
    return 0.5 * (squared(ConstVector(grad_).first(p_)) + problem_.scale2() * (ones_ ? grad_[p_] * grad_[p_] : 0.0));
  }

  /// dF/dt along the move.
  double slope_at(double t) const {
    std::vector<double> parts(static_cast<std::size_t>(blocks_.count));
    control_.team.for_each(blocks_.count, [&](Index k) {
      double s = 0;
      if constexpr (has_many)
        for_many(blocks_.begin(k), blocks_.end(k), t, [&](Index i, double, double, double share) {
          s -= problem_.y[i] * problem_.cost(i) * share * ray_[i];
        });
      for (Index i = blocks_.begin(k); i < blocks_.end(k) && !has_many; ++i)
        s -= loss_.prox(problem_.y[i], problem_.cost(i), center_[i], z_[i] + t * ray_[i], q_).beta * ray_[i];
      parts[k] = s;
    });
    return along(t) + std::accumulate(parts.begin(), parts.end(), 0.0);
  }
  /// Its part that belongs to the penalty.
  double along(double t) const {
    double s = ones_ ? reg_b_ * (b_ + t * move_[p_]) * move_[p_] : 0.0;
    for (Index j = 0; j < p_; ++j) s += (w_[j] + t * move_[j]) * move_[j];
    return s;
  }

  /// A point before the minimum along a convex ray where nearly all of the slope is gone; β and sums are its own.
  double step_length() {
    const double first = std::inner_product(grad_.begin(), grad_.end(), move_.begin(), 0.0);
    if (!evaluate(1.0)) return 0;
    const double one = along(1.0) - sums_.along;
    if (!(first < 0) || (0.5 * first <= one && one <= 0)) return 1.0;
    const double t = line_search(first, one);
    evaluate(t);
    return t;
  }

  double line_search(double first, double one) const {
    double low = 0, high = 1, f_low = first, f_high = one;
    while (f_high < 0 && high < 1e12) {
      low = high;
      f_low = f_high;
      f_high = slope_at(high *= 2);
    }
    for (int k = 0, side = 0; k < 60 && high - low > 1e-12 * high; ++k) {
      double t = low - f_low * (high - low) / (f_high - f_low);  // regula falsi, Illinois' way
      if (!(t > low && t < high) || k % 8 == 7) t = 0.5 * (low + high);
      const double here = slope_at(t);
      if (0.1 * first <= here && here <= 0) return t;
      if (here < 0) {
        low = t;
        f_low = here;
        if (side < 0) f_high *= 0.5;
        side = -1;
      } else {
        high = t;
        f_high = here;
        if (side > 0) f_low *= 0.5;
        side = 1;
      }
    }
    return low > 0 ? low : 0.5 * (low + high);
  }

  void fill(Answer& answer) const {
    answer.w = best_w_;
    answer.b = best_b_;
    answer.beta = best_beta_;
    answer.epochs = epochs_;
    answer.iterations = steps_;
  }
  void finish(Answer& answer) const {
    if (!answer.judged) fill(answer);
  }

  static constexpr Index stuck = 12;     // steps without one before a smooth loss is smoothed
  static constexpr Index patience = 40;  // steps without a gap a third smaller before something else is tried

  const Problem& problem_;
  const Loss& loss_;
  const NewtonOptions& options_;
  Control& control_;
  const Index n_, p_;
  const bool ones_, free_;
  const double reg_b_;
  Passes passes_;
  NewtonSystem system_;
  const Blocks blocks_;
  std::vector<double> w_, v_, grad_, move_, best_w_;
  std::vector<double> z_, ray_, center_, beta_, slope_, combined_, best_beta_;  // combined_: the β of v_
  std::vector<double> tangent_, spill_;
  double b_ = 0, best_b_ = 0, q_ = 0;
  double primal_ = infinity, dual_ = -infinity, best_primal_ = infinity, best_dual_ = -infinity;
  double level_ = 1e-2;  // how near zero Σβ must be, relative to Σ|β|, for a dual value to count
  double gap_ = infinity, last_gap_ = infinity, inner_ = infinity, ratio_ = 1, epochs_ = 0;
  Sums sums_;
  Index steps_ = 0, idle_ = 0, updates_ = 0, renewed_ = 0;
  bool moved_ = false, steady_ = false;
  const bool polish_;  // w itself is wanted to the last digits: the gradient has to vanish, no short cuts
  bool tangents_;      // for kinked losses rows that cross a kink spoil them
};

}  // namespace

namespace {

/// The problem on a sample of the rows, their costs times its step.
class Thinned {
 public:
  Thinned(const Problem& whole, Sample sample) : problem_(whole) {
    problem_.rows = thinned(whole.rows, sample);
    problem_.C *= static_cast<double>(sample.step());
    for (Index i = 0; i < whole.n() / sample.step(); ++i) {
      y_.push_back(whole.y[sample(i)]);
      if (whole.weight) weight_.push_back(whole.weight[sample(i)]);
    }
    problem_.y = y_;
    if (whole.weight) problem_.weight = weight_.data();
  }
  Thinned(const Thinned&) = delete;
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  std::vector<double> y_, weight_;
};

constexpr Index rows_per_column = 40;  // of the coarsest sample

/// The levels above the last: from the coarsest sample that can tell anything to every fourth row.
template <class Loss>
std::optional<Level> sampled_start(const Problem& problem, const Loss& loss, const NewtonOptions& options,
                                   const Blas& blas, Control& control, double& epochs) {
  const Index d = problem.p() + 1;
  Index step = 1;
  while (problem.n() / (4 * step) >= rows_per_column * d + 200) step *= 4;
  std::optional<Level> level;
  for (; step > 1 && !control.stopped(); step /= 4) {
    const Thinned sample(problem, Sample(step));
    Newton newton(sample.problem(), loss, options, blas, control);
    if (level)
      newton.start(*level, sample.problem().n() / 4);
    else
      newton.start(Answer{});
    const double goal = 0.3 * static_cast<double>(d) / static_cast<double>(sample.problem().n());
    level = newton.sample(std::max(goal, control.tol));
    epochs += newton.epochs() / static_cast<double>(step);
  }
  return level;
}

}  // namespace

void newton(const Problem& problem, Answer& answer, const NewtonOptions& options, const Blas& blas, Control& control) {
  std::visit(
      [&](const auto& loss) {
        double epochs = 0;
        std::optional<Level> level;
        if (options.sampling && answer.beta.empty() && answer.w.empty())
          level = sampled_start(problem, loss, options, blas, control, epochs);
        Newton newton(problem, loss, options, blas, control);
        if (level)
          newton.start(*level, problem.n() / 4);
        else
          newton.start(answer);
        newton.run(answer, epochs);
      },
      problem.loss);
}

}  // namespace dualgap
