// newton: the proximal Newton method.
//
//   min over (w, b) of  F(w, b) = ½‖w‖² + R(b) + Σ ψᵢ(zᵢ),   z = Xw + b,   −ψᵢ′(z) = step(β̄ᵢ, z, q),   ψᵢ″ = slopeᵢ
//
// Outer loop: proximal point on the dual (Rockafellar 1976), centre β̄ ← β and q ← q/5. With q in place of ‖xᵢ‖² the
// step of coordinate descent makes a kinked loss smooth around the last dual point, without changing the answer. Inner
// loop: semismooth Newton (Li, Sun, Toh 2018; Yan, Li 2020; Niu et al. 2022) with an exact line search. Only rows in
// the zone, where slope > 0, are in the Hessian. For smooth losses q = 0 and this is Newton's method.
//
// What the easy version gets wrong: the line search must never pass the minimum along the ray; q must start no smaller
// than the mean squared row, or a huge C never gets off the first kink; q must not shrink twice without a step between.
//
// Cost of a step: one pass for the scores of the ray, one over the rows whose β changed, the rows that entered or left
// the zone for the matrix, and its Cholesky. Memory: 60 bytes a row and three d × d matrices, d ≤ p + 1.
#include "solvers/newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "solvers/newton_system.hpp"

namespace dualgap {

namespace {

double squared(ConstVector w) { return std::inner_product(w.begin(), w.end(), w.begin(), 0.0); }

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
        move_(grad_.size()) {}

  void run(Answer& answer) {
    start(answer);
    while (evaluate()) {
      keep_best();
      if (decide(answer)) break;
      if (outer_step()) continue;
      if (!newton_step()) break;
    }
    finish(answer);
  }

 private:
  /// Sums over rows at the present scores.
  struct Sums {
    double loss = 0, dual = 0, beta = 0, size = 0;
    Index changed = 0;
  };

  void start(const Answer& answer) {
    w_ = answer.w.empty() ? std::vector<double>(p_) : answer.w;
    b_ = ones_ ? answer.b : 0.0;
    const bool warm = !answer.beta.empty();
    center_ = warm ? answer.beta : std::vector<double>(n_);
    make_feasible(problem_, center_);
    beta_.assign(n_, 0.0);
    slope_.resize(n_);
    ray_.resize(n_);
    z_.resize(n_);
    v_.assign(p_, 0.0);
    best_beta_ = center_;
    best_w_ = w_;
    best_b_ = b_;
    const bool moved = warm || b_ != 0 || squared(w_) > 0;
    if (moved && !passes_.scores(w_, b_, z_)) return;
    epochs_ += moved;
    if constexpr (!Loss::smooth) q_ = options_.q > 0 ? options_.q : first_q();
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

  /// β, slope and all sums at z; v = Xᵀβ by the rows whose β changed. False: given up.
  bool evaluate() {
    std::vector<Sums> parts(static_cast<std::size_t>(blocks_.count));
    control_.team.for_each(blocks_.count,
                           [&](Index k) { parts[k] = evaluate_block(blocks_.begin(k), blocks_.end(k)); });
    sums_ = {};
    for (const Sums& part : parts) {
      sums_.loss += part.loss;
      sums_.dual += part.dual;
      sums_.beta += part.beta;
      sums_.size += part.size;
      sums_.changed += part.changed;
    }
    if (!update_combination()) return false;
    for (Index j = 0; j < p_; ++j) grad_[j] = w_[j] - v_[j];
    if (ones_) grad_[p_] = reg_b_ * b_ - sums_.beta;
    primal_ = 0.5 * squared(w_) + 0.5 * reg_b_ * b_ * b_ + sums_.loss;
    dual_ = -0.5 * squared(v_) - 0.5 * problem_.scale2() * sums_.beta * sums_.beta + sums_.dual;
    if (free_) dual_ -= b_ * sums_.beta;  // what putting Σβ back to zero will cost: the free rows' gradient is b
    return !control_.look();
  }

  Sums evaluate_block(Index begin, Index end) {
    Sums s;
    for (Index i = begin; i < end; ++i) {
      const double y = problem_.y[i], c = problem_.cost(i);
      const Step step = loss_.prox(y, c, center_[i], z_[i], q_);
      ray_[i] = step.beta - beta_[i];  // the ray is not needed now: it holds the change of β
      s.changed += ray_[i] != 0;
      beta_[i] = step.beta;
      slope_[i] = step.slope;
      s.loss += c > 0 ? c * loss_.value(y, z_[i]) : 0.0;
      s.dual += loss_.dual(y, c, step.beta);
      s.beta += step.beta;
      s.size += std::abs(step.beta);
    }
    return s;
  }

  bool update_combination() {
    if (2 * sums_.changed > n_ || ++updates_ % 16 == 0) {
      epochs_ += 1;
      return passes_.combination(beta_, v_);
    }
    std::vector<std::uint32_t> changed;
    for (Index i = 0; i < n_; ++i)
      if (ray_[i] != 0) changed.push_back(static_cast<std::uint32_t>(i));
    std::vector<double> change(p_);
    if (!passes_.combination(changed, ray_, change)) return false;
    for (Index j = 0; j < p_; ++j) v_[j] += change[j];
    epochs_ += static_cast<double>(changed.size()) / static_cast<double>(n_);
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
    if (q_ == 0 || !moved_) return false;
    const double inner = 0.5 * (squared(ConstVector(grad_).first(p_)) +
                                (ones_ && !free_ ? problem_.scale2() * grad_[p_] * grad_[p_] : 0.0));
    const double goal = std::max(std::min(gap_, 1.0), control_.tol);
    const bool solved = level(1e-3 * std::sqrt(goal)) && inner < options_.inner * goal * std::abs(primal_);
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

  bool newton_step() {
    const double accuracy = std::min(0.1, std::sqrt(std::min(gap_, 1.0)));
    if (!system_.solve(slope_, grad_, move_, accuracy)) return false;
    if (!passes_.scores(ConstVector(move_).first(p_), ones_ ? move_[p_] : 0.0, ray_)) return false;
    epochs_ += 1 + system_.take_work();
    const double t = line_search();
    for (Index j = 0; j < p_; ++j) w_[j] += t * move_[j];
    if (ones_) b_ += t * move_[p_];
    control_.team.for_each(blocks_.count, [&](Index k) {
      for (Index i = blocks_.begin(k); i < blocks_.end(k); ++i) z_[i] += t * ray_[i];
    });
    ++steps_;
    ++idle_;
    moved_ = true;
    if (steps_ % 32 == 0 && !passes_.scores(w_, b_, z_)) return false;  // rounding in z does not pile up
    return true;
  }

  /// dF/dt along the move.
  double slope_at(double t) const {
    std::vector<double> parts(static_cast<std::size_t>(blocks_.count));
    control_.team.for_each(blocks_.count, [&](Index k) {
      double s = 0;
      for (Index i = blocks_.begin(k); i < blocks_.end(k); ++i)
        s -= loss_.prox(problem_.y[i], problem_.cost(i), center_[i], z_[i] + t * ray_[i], q_).beta * ray_[i];
      parts[k] = s;
    });
    double s = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (Index j = 0; j < p_; ++j) s += (w_[j] + t * move_[j]) * move_[j];
    if (ones_) s += reg_b_ * (b_ + t * move_[p_]) * move_[p_];
    return s;
  }

  /// A point before the minimum along a convex ray where nearly all of the slope is gone.
  double line_search() const {
    const double first = std::inner_product(grad_.begin(), grad_.end(), move_.begin(), 0.0), one = slope_at(1.0);
    if (!(first < 0)) return 1.0;
    if (0.5 * first <= one && one <= 0) return 1.0;
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
  std::vector<double> z_, ray_, center_, beta_, slope_, best_beta_;
  double b_ = 0, best_b_ = 0, q_ = 0;
  double primal_ = infinity, dual_ = -infinity, best_primal_ = infinity, best_dual_ = -infinity;
  double level_ = 1e-2;  // how near zero Σβ must be, relative to Σ|β|, for a dual value to count
  double gap_ = infinity, last_gap_ = infinity, ratio_ = 1, epochs_ = 0;
  Sums sums_;
  Index steps_ = 0, idle_ = 0, updates_ = 0, renewed_ = 0;
  bool moved_ = false;
};

}  // namespace

void newton(const Problem& problem, Answer& answer, const NewtonOptions& options, const Blas& blas, Control& control) {
  std::visit([&](const auto& loss) { Newton(problem, loss, options, blas, control).run(answer); }, problem.loss);
}

}  // namespace dualgap
