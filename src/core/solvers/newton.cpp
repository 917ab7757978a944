// newton: the proximal Newton method.
//
//   min over (w, b) of  F(w, b) = ½‖w‖² + R(b) + Σ ψᵢ(zᵢ),   z = Xw + b,   −ψᵢ′(z) = step(β̄ᵢ, z, q),   ψᵢ″ = slopeᵢ
//
// Outer loop: proximal point on the dual (Rockafellar 1976), centre β̄ ← β and q ← q/2.5. With q in place of ‖xᵢ‖² the
// step of coordinate descent makes a kinked loss smooth around the last dual point, without changing the answer. Inner
// loop: semismooth Newton (Li, Sun, Toh 2018; Yan, Li 2020; Niu et al. 2022) with a search on the derivative along the
// ray: the full step where at most half of it is left there, otherwise a point where at most a tenth is. Only rows in
// the zone, where slope > 0, are in the Hessian. For smooth losses q = 0 and this is Newton's method.
//
// Where there are many more rows than columns it starts on one row in 4ᵏ (their costs times 4ᵏ) and works its way down
// to all rows, each level only as exactly as its sample can be. And the dual point that certifies is on the tangent of
// the step, not at its end (newton_tangent.hpp); where it proves enough, Xᵀβ at the end of the step is not formed.
//
// What the easy version gets wrong: the line search must never pass the minimum along the ray; q must start no smaller
// than the mean squared row, or a huge C never gets off the first kink; q must not shrink twice without a step between.
//
// Rows of a kinked loss that rest at a bound are not watched between two looks at all rows: newton_rest.hpp.
//
// Where columns are too many for a d × d matrix, a step is made by conjugate gradients with a budget, and beyond it by
// a factor over rows: see newton_system.hpp. There a smooth loss with corners (squared hinge) is smoothed from the
// start where nothing is known. From a given w it takes rough steps, near the end exact ones for their tangent.
//
// Cost of a step: the scores of the watched rows along the ray, one pass over the rows whose β changed (with corners:
// that crossed one), the rows that entered or left the zone for the matrix, and its Cholesky. Memory: up to 100 bytes a
// row and three d × d matrices, d ≤ p + 1 (up to d = 1,000 two, and up to 17 more for sums over blocks of rows);
// where columns are too many, two over at most 3,000 rows instead.
#include "solvers/newton.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/row_vector.hpp"
#include "simd/dot.hpp"
#include "solvers/newton_line.hpp"
#include "solvers/newton_rest.hpp"
#include "solvers/newton_rows.hpp"
#include "solvers/newton_system.hpp"
#include "solvers/newton_tangent.hpp"
#include "solvers/newton_thinned.hpp"

namespace dualgap {

namespace {

/// Where a level ended: what the next one starts from.
struct Level {
  std::vector<double> w;
  double b = 0, q = 0;
  std::vector<double> hessian;  // of the losses, where the next one can use it
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
        rows_(problem, loss, control.team),
        rest_(problem, loss, passes_, rows_),
        grad_(p_ + (ones_ ? 1 : 0)),
        move_(grad_.size()),
        width_(rows_.width_of_targets()),
        target_(control.tol),
        polish_(control.tol <= 1e-12),
        tangents_(Loss::smooth && !polish_) {}

  /// From a dual point (with w where it is known), or from nothing.
  void start(const Answer& answer) {
    prepare(answer.w, ones_ ? answer.b : 0.0);
    if (!answer.beta.empty()) {
      rows_.center.assign(answer.beta.begin(), answer.beta.end());
      make_feasible(problem_, rows_.center);
      best_beta_ = rows_.center;
    }
    if (!Loss::smooth || (corners && system_.wide() && answer.w.empty()))
      rows_.q = options_.q > 0 ? options_.q : rows_.first_q(passes_, epochs_);
    open();
  }

  /// From the level before. Its scores are off by about √(d/m) of their spread, m its rows: the zone is made as wide as
  /// that part of the rows, and the centre is what the loss so smoothed around the middle of each box says.
  void start(Level level, Index rows_before) {
    prepare(level.w, level.b);
    if constexpr (!Loss::smooth) {
      const double doubt = std::sqrt(static_cast<double>(grad_.size()) / static_cast<double>(rows_before));
      const RowNumbers some = rows_.some();
      if (!score(some, w_, b_, rows_.z)) return;
      epochs_ += static_cast<double>(some.size()) / static_cast<double>(n_);
      rows_.q = rows_.q_for_zone(some, level.q, std::min(doubt, 0.5));
      open([&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) rows_.center[i] = rows_.middle(i, rows_.q).beta;
      });
      copy(control_.team, rows_.center, best_beta_);
    } else {
      open();
      const bool alike = rows_before >= 50 * static_cast<Index>(grad_.size());
      lent_ = !corners && !polish_ && alike && system_.borrow(std::move(level.hessian));
    }
  }

  /// A level on a sample: until its gap is within `goal`, or where steps bring little more than `goal`, without the
  /// judge. (A smooth loss is near its end there; at a large C its dual is not, and what the last steps find is
  /// chance.)
  Level sample(double goal) {
    target_ = goal;
    sampling_ = true;
    const auto near = [&] { return Loss::smooth && rows_.q == 0 && gain_ <= 4 * goal; };
    advance([&] { return gap_ <= goal || near() || idle_ > 10 || steps_ > 60; }, [](bool asked) { return asked; });
    return {best_w_, best_b_, rows_.q, system_.lend()};
  }

  void run(Answer& answer, double epochs) {
    epochs_ += epochs;
    advance([&] { return due() || tired(); }, [&](bool) { return decide(answer); });
    if (!answer.judged) fill(answer);
  }

  double epochs() const { return epochs_; }

 private:
  using Sums = typename NewtonRows<Loss>::Sums;
  struct Stride {
    double t = 0;
    bool linear = false;               // β of most rows follows its tangent
    bool met = false;                  // all rows were looked at where it ends
    bool lent = false, again = false;  // by the matrix of the level before, of the step before
  };

  /// Steps until `leave` says so. Where the watched rows alone `ask` to leave, all are looked at first.
  template <class Ask, class Leave>
  void advance(Ask ask, Leave leave) {
    bool going = opened_;
    while (going) {
      keep_best();
      const bool asks = ask();
      if (asks && !rows_.focus.everyone()) {
        going = look_at_all();
        continue;
      }
      if (leave(asks)) break;
      if (ahead_) {  // the judge wants more than the tangent's point
        going = settle(*std::exchange(ahead_, std::nullopt));
        continue;
      }
      going = outer_step() ? evaluate(0.0) && combine(0.0) : newton_step();
    }
  }

  void prepare(const std::vector<double>& w, double b) {
    w_ = w.empty() ? std::vector<double>(p_) : w;
    b_ = b;
    v_.assign(p_, 0.0);
    best_w_ = w_;
    best_b_ = b_;
    copy(control_.team, rows_.center, best_beta_);
  }

  /// The scores of the first point, β and what follows from them, in one read of the data; centre(begin, end) is called
  /// once the scores of those rows are known. Where everything is zero there is nothing to score.
  template <class F = void (*)(Index, Index)>
  void open(F centre = [](Index, Index) {}) {
    if (b_ == 0 && squared(w_) == 0) {
      centre(0, n_);
      opened_ = evaluate(0.0) && combine(0.0);
      return;
    }
    std::vector<Sums> parts(Blocks::most);
    const auto weigh = [&](Index block, Index begin, Index end) {
      centre(begin, end);
      parts[block].add(rows_.evaluate(begin, end, 0.0));
      std::copy(rows_.beta.begin() + begin, rows_.beta.begin() + end, rows_.combined.begin() + begin);
    };
    opened_ = passes_.scores_and_combination(w_, b_, rows_.z, weigh, rows_.beta, v_) && !control_.look();
    if (!opened_) return;
    epochs_ += 2;
    rows_.add_up(parts);
    tally();
  }

  /// False: given up.
  bool evaluate(double t) {
    rows_.evaluate(t);
    return !control_.look();
  }

  /// Takes the step t that was evaluated: z, v = Xᵀβ by the rows whose β changed, the gradient and both objectives.
  /// Where β is linear in z but for a corner and the system was solved well, v is known of the rows that stay on their
  /// side of it: `linear`, only the others are read.
  bool combine(double t, bool linear = false) {
    Sums none;
    const RowNumbers changed = rows_.where(none, [&](Index i, Sums&) {
      const double slope = linear ? loss_.prox(problem_.y[i], problem_.cost(i), 0.0, rows_.z[i], 0.0).slope : 0.0;
      const bool stays = slope > 0 && rows_.slope[i] == slope && rows_.beta[i] * rows_.combined[i] > 0;
      const double change = rows_.beta[i] - rows_.combined[i] + t * slope * rows_.ray[i];
      rows_.z[i] += t * rows_.ray[i];
      rows_.ray[i] = stays ? 0.0 : change;  // the ray has been used: it holds the change of β
      rows_.combined[i] = rows_.beta[i];
      return rows_.ray[i] != 0;
    });
    if (linear)
      for (Index j = 0; j < p_; ++j) v_[j] += t * (grad_[j] + move_[j]);
    if (!update_combination(changed)) return false;
    tally();
    return true;
  }

  /// The gradient and both objectives, from β, Xᵀβ and the rows' sums.
  void tally() {
    for (Index j = 0; j < p_; ++j) grad_[j] = w_[j] - v_[j];
    if (ones_) grad_[p_] = reg_b_ * b_ - rows_.sums.beta;
    primal_ = objective() + rest_.value(w_, b_);
    dual_ = -0.5 * squared(v_) - 0.5 * problem_.scale2() * rows_.sums.beta * rows_.sums.beta + rows_.sums.dual;
    if (free_) dual_ -= b_ * rows_.sums.beta;  // what putting Σβ back to zero will cost: the free rows' gradient is b
  }

  /// P of the watched rows at w, b and their scores.
  double objective() const { return 0.5 * squared(w_) + 0.5 * reg_b_ * b_ * b_ + rows_.sums.loss; }

  bool update_combination(RowList changed) {
    const Index count = static_cast<Index>(changed.size());
    if (2 * count > n_ || ++updates_ % afresh == 0) {
      epochs_ += 1;
      return passes_.combination(rows_.beta, v_);
    }
    std::vector<double> change(p_);
    if (!passes_.combination(changed, rows_.ray, change)) return false;
    for (Index j = 0; j < p_; ++j) v_[j] += change[j];
    epochs_ += static_cast<double>(count) / static_cast<double>(n_);
    return true;
  }

  void keep_best() {
    const bool flat = polishing() && primal_ <= best_primal_ * (1 + 1e-15) && inner_gap() < best_inner_;
    if (rows_.focus.everyone() && (primal_ < best_primal_ || flat)) {
      best_primal_ = std::min(primal_, best_primal_);
      best_inner_ = inner_gap();
      best_w_ = w_;
      best_b_ = b_;
    }
    if (dual_ > best_dual_ && level(level_)) {
      best_dual_ = dual_;
      copy(control_.team, rows_.beta, best_beta_);
      if (free_) rows_.onto_zero_sum(best_beta_);
    }
    gap_ = relative_gap(std::min(best_primal_, primal_), best_dual_, 0.0);
    // while the dual point is below zero the gap is 1 whatever the steps bring: what they bring counts by itself
    if (gap_ < 0.7 * last_gap_ || best_primal_ < 0.7 * last_primal_ ||
        (last_dual_ < 0 && best_dual_ > 0.7 * last_dual_)) {
      last_gap_ = std::min(gap_, last_gap_);
      last_primal_ = best_primal_;
      last_dual_ = best_dual_;
      idle_ = 0;
    }
  }

  bool level(double part) const { return !free_ || std::abs(rows_.sums.beta) <= part * rows_.sums.size; }

  /// Do our own numbers say that the gap is reached? Where w is wanted to the last digits a gap that is rounding is not
  /// enough: its root is the error of w.
  bool due() const {
    if (polishing() && best_inner_ > 1e-24 * std::abs(primal_) && idle_ < 4) return false;
    const double rounding = polish_ && idle_ >= 4 ? 1e-13 : 0.0;  // of our own sums: the judge's see further
    return gap_ * ratio_ <= std::max(target_, rounding);
  }
  bool polishing() const { return Loss::smooth && polish_ && rows_.q == 0; }
  /// Is there no way on?
  bool tired() const { return idle_ > patience && (rows_.q == 0 || renewed_ >= tries()); }
  /// Where moves are those of conjugate gradients, a stuck point is more often chance than the end.
  Index tries() const { return system_.wide() ? 6 : 2; }

  /// Asks the judge where our own numbers say that it is time. True: leave.
  bool decide(Answer& answer) {
    const bool due = this->due(), tired = this->tired();
    if (control_.epochs_left(epochs_) <= 0 || steps_ >= options_.max_steps) control_.stop(Status::max_iter);
    if (control_.stopped() || (!due && !tired && !control_.watched())) return control_.stopped();
    fill(answer);
    const auto purpose = due || tired ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, "newton", epochs_, system_.zone_size(), answer.w, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (tired) control_.stop(Status::stalled);
    const Certificate& seen = control_.certificate();
    const double lost = best_dual_ - seen.dual;  // the dual point is worth less than we thought
    const bool closer = free_ && level_ > 1e-13;
    if (due && (tangents_ || closer) && seen.relative_gap > 2 * gap_ &&
        (lost > std::max(0.5 * seen.gap, seen.rounding) || !(lost < infinity))) {
      best_dual_ = seen.dual;
      last_gap_ = infinity;
      if (tangents_) {  // rounding in the solution of the system: no more of what stands on it
        tangents_ = false;
        updates_ = afresh - 1;  // Xᵀβ too: the next step forms it anew
      } else {
        level_ = std::max(0.1 * level_, 1e-13);  // Σβ was too far from zero: trust only points that are closer
      }
      return tired;
    }
    if (due && gap_ > 0) ratio_ = std::min(std::max(1.05 * seen.relative_gap / gap_, ratio_ * 1.5), 1e6);
    return tired;
  }

  /// The next outer step where the inner problem is solved well enough. True: z is as it was, β is not.
  bool outer_step() {
    if (rows_.q == 0) return smooth_after_all();
    if (!moved_) return false;
    const double goal = std::max(std::min(gap_, 1.0), control_.tol);
    const bool solved = level(1e-3 * std::sqrt(goal)) && inner_gap() < options_.inner * goal * answer_size();
    if (idle_ > patience) {  // no progress: back to the best point with a wider smoothing
      renew(rows_.measure(passes_, epochs_) ? rows_.first_q(passes_, epochs_) : 100 * rows_.q);
      return true;
    }
    if (!solved) return false;
    copy(control_.team, rows_.beta, rows_.center);
    rows_.q = std::max(rows_.q / options_.shrink, 1e-300);
    moved_ = false;
    if (rows_.q > width_) idle_ = 0;  // the gap is seldom below 1 so far: this is the way there
    return true;
  }

  /// P, unless it is far above a dual point: then it says nothing of the answer's size. At a huge C one row's loss can
  /// be a billion times it.
  double answer_size() const {
    const double size = std::abs(primal_);
    return best_dual_ > 0 ? std::min(size, std::max(many_duals * best_dual_, 0.5 * squared(w_))) : size;
  }

  /// A smooth loss whose slope has corners is stiff at a huge C: the line search stops at every one of them. Smoothed
  /// around the best dual point, like a kinked loss, it comes loose. (Not where only P is left to fall.)
  bool smooth_after_all() {
    strains_ += system_.strained();
    const bool strained = system_.strained() && dual_lags() && (best_dual_ > 0 || strains_ > few_strains);
    const bool stiff = short_steps_ >= many_short && !system_.wide() && !sampling_ && !polish_;
    if (!corners || (idle_ <= stuck && !strained && !stiff) || renewed_ > 0) return false;
    rows_.measure(passes_, epochs_);
    renew(0.04 * rows_.first_q(passes_, epochs_));  // the point is known well: a wide smoothing would lead away from it
    return true;
  }

  /// Smoothed from now on around the best dual point there is; β = 0 has a dual of 0.
  void renew(double q) {
    ++renewed_;
    idle_ = 0;
    if (best_dual_ < 0)
      zeros(control_.team, rows_.center, n_);
    else
      copy(control_.team, best_beta_, rows_.center);
    rows_.q = q;
    moved_ = false;
  }

  bool newton_step() {
    if (!Loss::smooth && rows_.focus.everyone() && !rest_.narrow(w_, b_, v_)) return false;
    const double accuracy = std::min(0.1, std::sqrt(std::min(gap_, 1.0)));
    const bool lent = std::exchange(lent_, false) && borrow_a_move();
    const bool again =
        !lent && Loss::smooth && (sampling_ || !corners) && !polish_ && steady_ && system_.can_solve_again();
    if (!lent &&
        !(again ? system_.solve_again(grad_, move_) : system_.solve(rows_.slope, grad_, move_, accuracy, aim())))
      return false;
    const bool exact = tangents_ && !again && !lent && system_.exact();
    if (!look_along(exact)) return false;
    epochs_ += system_.take_work();
    decrement_ = decrement();
    Stride step{.lent = lent, .again = again};
    const double t = step.t = step_length(step.met);
    if (control_.stopped()) return false;
    if (exact && (corners || t > long_step) && !try_tangent(corners ? 1.0 : t)) return false;
    for (Index j = 0; j < p_; ++j) w_[j] += t * move_[j];
    if (ones_) b_ += t * move_[p_];
    rest_.note_step(t * std::sqrt(squared(move_)));
    if (rows_.focus.everyone()) rest_.note_sway(rows_.sums.moved, squared(move_), n_);
    const bool fresh = steps_ > 0 && steps_ % anew == 0;  // scores: β and its slope are still those of the old ones
    step.linear = corners && exact && rows_.q == 0 && !fresh && target_ > 1e-9 && system_.precise(grad_, move_);
    short_steps_ += t < 0.5;
    ++steps_;
    idle_ += falls(t) ? 1 / (1 + static_cast<double>(std::min({n_, p_, most_kinks})) / patience) : 1.0;
    moved_ = true;
    if constexpr (Loss::smooth) {
      const double before = std::exchange(primal_, objective());
      gain_ = t >= 0.5 ? (before - primal_) / std::abs(primal_) : infinity;
      if (exact && relative_gap(std::min(best_primal_, primal_), best_dual_, 0.0) * ratio_ <= target_) {
        ahead_ = step;  // a dual point on a tangent proves enough: Xᵀβ of the new w may never be asked for
        dual_ = -infinity;
        steady_ = false;
        return true;
      }
    }
    return settle(step);
  }

  /// How the scores change along the move; and β, slope and the sums at its end, where most steps end too. `exact`: its
  /// tangent as well.
  bool look_along(bool exact) {
    if (exact) tangent_.begin(rows_.slope.size());
    std::vector<Sums> parts(static_cast<std::size_t>(passes_.score_blocks(rows_.focus.count()).count));
    const auto weigh = [&](Index block, Index begin, Index end) {
      if (exact) tangent_.follow(rows_, begin, end);
      parts[block] = rows_.evaluate(begin, end, 1.0);
    };
    if (!scores(ConstVector(move_).first(p_), ones_ ? move_[p_] : 0.0, rows_.ray, weigh)) return false;
    rows_.add_up(parts);
    return !control_.look();
  }

  /// The move by the Hessian of the level before: it serves the first step, unless one step with the own is likely to
  /// be all.
  bool borrow_a_move() { return system_.solve_again(grad_, move_) && decrement() > 2 * target_ * std::abs(primal_); }

  /// β and the gradient follow w, which has taken the step.
  bool settle(const Stride& step) {
    if (!combine(step.t, step.linear)) return false;
    if (step.met) rest_.end_here();
    const double inner = inner_gap();  // where it fell far, the matrix may serve once more
    steady_ = step.t == 1 && !step.lent && inner < (step.again ? 0.1 : 0.02) * inner_;
    inner_ = inner;
    return steps_ % anew != 0 || scores(w_, b_, rows_.z);  // rounding in z does not pile up
  }

  /// Has a step of this length brought the inner problem nearer to its end? Where its minimum is in a corner of many
  /// kinks and few of their rows are in the zone, steps are short and take up a row or two each: then as many as there
  /// are rows or columns may bring no better gap before the last of them does.
  bool falls(double t) const {
    return !Loss::smooth && !sampling_ && t * decrement_ > 1e-3 * std::max(target_, 1e-10) * answer_size();
  }
  /// What a full step has to gain, by the model it was made on.
  double decrement() const { return -0.5 * std::inner_product(grad_.begin(), grad_.end(), move_.begin(), 0.0); }
  /// Is the gap much more than what the last step had to gain for P? Then it is the dual point that is missing.
  bool dual_lags() const { return decrement_ < 0.3 * (primal_ - best_dual_); }

  /// While a loss with corners is not smoothed its zone comes and goes, and an exact move stops at the next row that
  /// enters: a rough one is as good. But near the end, where only the dual point is missing, the tangent of an exact
  /// move has one. Smoothed, its zone is small and exact moves need fewer steps.
  NewtonSystem::Aim aim() const {
    using Aim = NewtonSystem::Aim;
    if (rows_.q > 0) return Aim::exactly;
    if (!corners) return Aim::accurately;
    return dual_lags() && decrement_ <= 4 * target_ * std::abs(primal_) ? Aim::provingly : Aim::roughly;
  }

  /// z = Xw + b of the watched rows, and what is done with them then.
  bool scores(ConstVector w, double b, Vector z, const Passes::Then& then = {}) {
    epochs_ += static_cast<double>(rows_.focus.count()) / static_cast<double>(n_);
    if (rows_.focus.everyone()) return passes_.scores(w, b, z, then);
    return score(rows_.focus.rows(), w, b, z, then);
  }

  /// The same for the rows of a list.
  bool score(RowList list, ConstVector w, double b, Vector z, const Passes::Then& then = {}) {
    std::vector<double> scores(list.size());
    return passes_.scores(list, w, b, scores, [&](Index block, Index begin, Index end) {
      for (Index k = begin; k < end; ++k) z[list[k]] = scores[k];
      if (then) then(block, begin, end);
    });
  }

  bool look_at_all() {
    const double thought = primal_;
    rest_.end();
    if (!scores(w_, b_, rows_.z) || !evaluate(0.0) || !combine(0.0)) return false;
    if (primal_ > thought && ++surprises_ < many_surprises) last_gap_ = infinity;  // rows had woken up unseen, or so
    return true;
  }

  /// Is the dual point at t on the tangent the best so far?
  bool try_tangent(double t) {
    tangent_.take(rows_, t);
    const Sums& sums = tangent_.sums;
    if (free_ && std::abs(sums.beta) > level_ * sums.size) return true;
    std::vector<double> v(p_);
    if (tangent_.clipped() > 0 && !tangent_.spilled(passes_, v)) return false;
    for (Index j = 0; j < p_; ++j) v[j] += v_[j] + t * (grad_[j] + move_[j]);
    double dual = sums.dual - 0.5 * squared(v) - 0.5 * problem_.scale2() * sums.beta * sums.beta;
    if (free_) dual -= (b_ + t * move_[p_]) * sums.beta;
    epochs_ += static_cast<double>(tangent_.clipped()) / static_cast<double>(n_);
    const double rounding = 1e-12 * best_primal_ + std::abs(b_ * sums.beta);
    if (!(dual > best_dual_) || dual > best_primal_ + rounding) return true;  // above P it is rounding
    best_dual_ = dual;
    best_beta_.swap(tangent_.beta);
    return true;
  }

  /// The gap of the inner problem: half the squared gradient over the regularised coordinates.
  double inner_gap() const {
    return 0.5 * (squared(ConstVector(grad_).first(p_)) + problem_.scale2() * (ones_ ? grad_[p_] * grad_[p_] : 0.0));
  }

  /// dF/dt along the move.
  double slope_at(double t) const { return along(t) + rows_.pull(t); }
  /// Its part that belongs to the penalty and to the resting rows.
  double along(double t) const {
    double s = ones_ ? reg_b_ * (b_ + t * move_[p_]) * move_[p_] : 0.0;
    for (Index j = 0; j < p_; ++j) s += (w_[j] + t * move_[j]) * move_[j];
    return s + rest_.pull(ConstVector(move_).first(p_), ones_ ? move_[p_] : 0.0);
  }

  /// Where t of the move leads.
  Place after(double t) const {
    Place place{w_, ones_ ? b_ + t * move_[p_] : 0.0};
    for (Index j = 0; j < p_; ++j) place.w[j] += t * move_[j];
    return place;
  }

  /// The step on the watched rows; where it leads far, all rows are met at its end, and those it wakes have their say.
  double step_length(bool& met) {
    double t = watched_step();
    while (!control_.stopped() && !met && !rows_.focus.everyone()) {
      const Place end = after(t);
      if (!rest_.too_far(end)) break;
      bool woken = false;
      epochs_ += 1;
      if (!rest_.meet(end, move_, t, woken)) return 0;
      met = !woken;
      if (woken && !evaluate(1.0)) return 0;
      if (woken) t = watched_step();
    }
    return t;
  }

  /// A point before the minimum along a convex ray where nearly all of the slope is gone; β and sums, which are those
  /// at 1, become its own.
  double watched_step() {
    const double first = std::inner_product(grad_.begin(), grad_.end(), move_.begin(), 0.0);
    const double one = along(1.0) - rows_.sums.along;
    if (!(first < 0) || (0.5 * first <= one && one <= 0)) return 1.0;
    const double t = before_minimum([this](double at) { return slope_at(at); }, first, one);
    evaluate(t);
    return t;
  }

  void fill(Answer& answer) const {
    answer.w = best_w_;
    answer.b = best_b_;
    copy(control_.team, best_beta_, answer.beta);
    answer.epochs = epochs_;
    answer.iterations = steps_;
  }

  static constexpr bool corners = Loss::smooth && Loss::shrinks;  // in the slope: the squared hinge and tube
  static constexpr Index few_strains = 5;      // steps cut short that are borne while no dual point is any good
  static constexpr Index afresh = 16;          // updates of Xᵀβ: then it is formed anew
  static constexpr Index anew = 32;            // steps: then the scores are
  static constexpr Index many_short = 4;       // steps of less than a half before a smooth loss is smoothed
  static constexpr Index stuck = 12;           // steps without one before a smooth loss is smoothed
  static constexpr Index many_surprises = 20;  // by then it is rounding
  static constexpr double many_duals = 10;     // P so many times a dual point is far above the answer
  static constexpr Index patience = 40;        // steps without progress (keep_best, outer_step) before a change
  static constexpr Index most_kinks = 400;     // that such steps may take up beyond that
  static constexpr double long_step = 0.8;     // without corners: a tangent of less leaves too much of the gradient

  const Problem& problem_;
  const Loss& loss_;
  const NewtonOptions& options_;
  Control& control_;
  const Index n_, p_;
  const bool ones_, free_;
  const double reg_b_;
  Passes passes_;
  NewtonSystem system_;
  NewtonRows<Loss> rows_;
  NewtonRest<Loss> rest_;
  std::vector<double> w_, v_, grad_, move_, best_w_;
  RowVector best_beta_;
  NewtonTangent<Loss> tangent_;
  double b_ = 0, best_b_ = 0;
  double primal_ = infinity, dual_ = -infinity, best_primal_ = infinity, best_dual_ = -infinity;
  double best_inner_ = infinity;                           // the inner gap at the best w
  double last_primal_ = infinity, last_dual_ = -infinity;  // where there was progress last
  double level_ = 1e-2;  // how near zero Σβ must be, relative to Σ|β|, for a dual value to count
  double gap_ = infinity, last_gap_ = infinity, inner_ = infinity, ratio_ = 1, epochs_ = 0;
  double decrement_ = infinity;  // of the last step
  double gain_ = infinity;       // of the last step, relative to the primal
  double idle_ = 0;
  Index steps_ = 0, short_steps_ = 0, updates_ = 0, renewed_ = 0, strains_ = 0, surprises_ = 0;
  bool moved_ = false, steady_ = false, sampling_ = false;
  bool opened_ = false;          // the first point is known
  bool lent_ = false;            // the system has the matrix of the level before
  const double width_;           // of the targets: a smoothing beyond it says little about them
  double target_;                // the gap to reach
  std::optional<Stride> ahead_;  // a step that w has taken and β has not
  const bool polish_;            // w itself is wanted to the last digits: the gradient has to vanish, no short cuts
  bool tangents_;                // for kinked losses rows that cross a kink spoil them
};

constexpr Index rows_per_column = 40;  // of the coarsest sample

/// One row in how many the coarsest sample has that can tell anything; 1: there is none.
Index coarsest(const Problem& problem) {
  Index step = 1;
  while (problem.n() / (4 * step) >= rows_per_column * (problem.p() + 1) + 200) step *= 4;
  return step;
}

/// The levels above the last: from the coarsest sample to every fourth row.
template <class Loss>
std::optional<Level> sampled_start(const Problem& problem, const Loss& loss, const NewtonOptions& options,
                                   const Blas& blas, Control& control, double& epochs) {
  const Index d = problem.p() + 1;
  std::optional<Level> level;
  for (Index step = coarsest(problem); step > 1 && !control.stopped(); step /= 4) {
    const Thinned sample(problem, Sample(step));
    Newton newton(sample.problem(), loss, options, blas, control);
    if (level)
      newton.start(std::move(*level), sample.problem().n() / 4);
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
          newton.start(std::move(*level), problem.n() / 4);
        else
          newton.start(answer);
        newton.run(answer, epochs);
      },
      problem.loss);
}

bool newton_is_wide(const Problem& problem, double memory) { return NewtonSystem::is_wide(problem, memory); }
bool newton_samples(const Problem& problem) { return coarsest(problem) > 1; }
double newton_matrices(const Problem& problem) { return NewtonSystem::matrices(problem); }

}  // namespace dualgap
