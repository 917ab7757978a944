// The engine of dual coordinate descent: what dcd.cpp and sdca.cpp describe, once.
//
//   for i in the chosen order:  z ← xᵢᵀw + b,   B ← step(βᵢ, z, ‖xᵢ‖² + s²),   w ← w + (B − βᵢ)xᵢ,   βᵢ ← B
//
// Each visit adds its row's Fenchel–Young term, which is that row's share of the gap, and after a long pass a sample of
// rows is looked at once more; when they say that the judge will agree, the judge is asked. The first epoch may be one
// of stochastic gradient steps.
#include "solvers/descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "simd/dot.hpp"

namespace dualgap {

namespace {

template <class Rows, class Loss>
class Descent {
 public:
  Descent(const Problem& problem, const Rows& rows, const Loss& loss, const DescentOptions& options, Control& control)
      : problem_(problem),
        rows_(rows),
        loss_(loss),
        options_(options),
        control_(control),
        random_(options.seed),
        cells_(problem.n()),
        order_(problem.n()),
        w_(rows.cols()),
        average_(rows.cols()),
        watching_(Loss::shrinks || options.stopping == DescentOptions::Stopping::kkt) {}

  void run(Answer& answer) {
    start(answer);
    bool fresh = options_.begin == DescentOptions::Begin::sgd && answer.beta.empty();
    while (!control_.over(epochs_)) {
      const Pass pass = std::exchange(fresh, false) ? stochastic_epoch() : epoch();
      if (control_.stopped()) break;
      multiplier_ += free_ * total_;
      ++iterations_;
      update_average();
      if (decide(pass, answer)) break;
    }
    finish(answer);
  }

 private:
  struct Cell {
    double beta, q, y, c;  // q < 0: not yet computed
  };
  /// What one epoch saw.
  struct Pass {
    double gap = 0;                   // Σ Fenchel–Young terms
    double loss = 0;                  // Σ cℓ
    double growing = 0, falling = 0;  // largest projected gradient of rows whose |β| wants to grow, to fall
    Index visits = 0, changes = 0, work = 0;
    bool whole = true;     // no row was shrunk when it began
    bool sampled = false;  // gap and loss are those of its end, from a sample of rows

    double violation() const { return std::max(growing, falling); }
  };
  /// Rows are visited in runs of neighbours, the runs in random order: as good as single rows in random order, and the
  /// processor's own prefetcher has something to follow.
  static constexpr Index length = 8;
  static constexpr double span = 0.5;                // epochs between two notes of the gap
  static constexpr double much = 40;                 // so much smaller may a gap be after an epoch
  static constexpr double far_off = 3;               // judged so much above a sample's gap, samples are not asked again
  static constexpr std::uint32_t gone = 0xffffffff;  // in order_: shrunk during this epoch

  void start(const Answer& answer) {
    const Index n = problem_.n();
    const bool free = problem_.intercept == Intercept::free;
    double squares = 0;
    for (Index i = 0; i < n; ++i) {
      const double beta = answer.beta.empty() ? 0.0 : answer.beta[i], c = problem_.cost(i), y = problem_.y[i];
      double q = -1;
      if (free) squares += q = squared_norm(rows_, i);  // otherwise at the first visit, when the row is read
      cells_[i] = {loss_.box(y, c).clip(beta), q, y, c};
      move(i, cells_[i].beta);
      if (control_.tick(q < 0 && beta == 0 ? 1 : rows_.entries(i))) return;
    }
    if (free) {
      free_ = squares > 0 ? squares / static_cast<double>(n) : 1.0;  // rows of zeros: only the intercept is sought
      multiplier_ = answer.b;
    }
    scale2_ = problem_.scale2() + free_;
    for (Cell& cell : cells_)
      if (cell.q >= 0) cell.q += scale2_;
    open();
    if (options_.output > DescentOptions::Output::last) average_beta_.resize(n);
  }

  /// Every row takes part.
  void open() {
    active_ = problem_.n();
    std::iota(order_.begin(), order_.end(), 0u);
    runs_.resize(static_cast<std::size_t>((active_ + length - 1) / length));
    std::iota(runs_.begin(), runs_.end(), 0u);
  }

  void measure(Cell& cell, Index i) const {
    if (cell.q < 0) cell.q = squared_norm(rows_, i) + scale2_;
  }

  /// w ← w + change·xᵢ, and Σβ with it.
  void move(Index i, double change) {
    if (change == 0) return;
    rows_.add(i, change, w_.data());
    total_ += change;
  }

  /// One pass of modified stochastic gradient steps: row t is placed as if the t rows so far, their costs raised to the
  /// whole's, were the problem; its w is then scale·Σβx, and the scale is 1 when all are in.
  Pass stochastic_epoch() {
    Pass pass;
    double all = 0, seen = 0;
    for (const Cell& cell : cells_) all += cell.c;
    if (options_.order != DescentOptions::Order::cyclic) random_.shuffle(std::span(runs_));
    each_run(pass, [&](Index at) {
      const std::uint32_t i = order_[at];
      Cell& cell = cells_[i];
      if (cell.c <= 1e-100 * all) return;  // the next epoch places it
      measure(cell, i);
      pass.work += rows_.entries(i) + 1;
      const double z = multiplier_ + (seen > 0 ? (rows_.dot(i, w_.data()) + scale2_ * total_) * (all / seen) : 0.0);
      seen += cell.c;
      cell.beta = descent_step(loss_, cell.y, cell.c, 0.0, z, cell.q * (all / seen));
      move(i, cell.beta);
    });
    epochs_ += 1;
    pass.visits = pass.changes = problem_.n();
    pass.sampled = true;
    if (control_.tick(pass.work)) return pass;
    const Sampled sum = sampled(w_, intercept());
    pass.gap = sum.gap;
    pass.loss = sum.loss;
    return pass;
  }

  double intercept() const { return multiplier_ + scale2_ * total_; }

  Pass epoch() {
    Pass pass;
    pass.whole = active_ == problem_.n();
    if (options_.order == DescentOptions::Order::permuted) random_.shuffle(std::span(runs_));
    if (options_.order == DescentOptions::Order::random) {
      for (Index k = 0; k < active_ && !rest(pass, k); ++k)
        visit(random_.below(static_cast<std::uint32_t>(active_)), pass);
    } else {
      each_run(pass, [&](Index at) { visit(at, pass); });
    }
    control_.tick(pass.work);
    compact();
    pass.gap *= Loss::check_every;
    pass.loss *= Loss::check_every;
    epochs_ += static_cast<double>(pass.visits) / static_cast<double>(problem_.n());
    growing_ = threshold(pass.growing, pass.falling);
    falling_ = threshold(pass.falling, pass.growing);
    return pass;
  }

  /// f(place) for all places, run by run.
  template <class F>
  void each_run(Pass& pass, F f) {
    for (std::size_t r = 0; r < runs_.size() && !rest(pass, 0); ++r) {
      const Index first = runs_[r] * length, last = std::min(first + length, active_);
      const Index ahead = r + 1 < runs_.size() ? runs_[r + 1] * length : first, limit = active_ - 1;
      if (r + 2 < runs_.size()) fetch_places(runs_[r + 2] * length);
      for (Index at = first; at < last; ++at) {
        rows_.prefetch(order_[std::min(ahead + at - first, limit)]);
        f(at);
      }
    }
  }

  /// What holds a row firmly enough to leave it out. LIBLINEAR takes the largest pull; most rows are pulled far less
  /// than that, and where a row was left out too early the judge's word brings it back, so a part of it is enough.
  static double threshold(double pull, double other) { return pull > 0 ? 0.15 * pull : other > 0 ? other : infinity; }

  /// Time to look at the clock? True: leave.
  bool rest(Pass& pass, Index k) { return k % 64 == 0 && control_.tick(std::exchange(pass.work, 0)); }

  void fetch_places(Index first) const {
    const Index last = std::min(first + length, active_);
    for (Index at = first; at < last; at += 2) __builtin_prefetch(&cells_[order_[at]]);
    rows_.prefetch_place(order_[first]);
    rows_.prefetch_place(order_[last - 1]);
  }

  /// One row: look, measure, step. A row that sits at an end of its box and is held there more firmly than any other is
  /// drawn away is left out until the judge is asked: at zero the pull of those falling back to zero counts, at the
  /// other end that of those growing (Hsieh et al. 2008, §3.2).
  void visit(Index at, Pass& pass) {
    const std::uint32_t i = order_[at];
    if (i == gone) return;
    Cell& cell = cells_[i];
    measure(cell, i);
    const double z = rows_.dot(i, w_.data()) + intercept();
    pass.work += rows_.entries(i) + 1;
    const double slack = watching_ ? loss_.slack(cell.y, cell.c, cell.beta, z) : 0.0;
    if (options_.shrinking && slack > (cell.beta == 0 ? falling_ : growing_)) order_[at] = gone;
    if (pass.visits++ % Loss::check_every == 0) {
      const double value = cell.c * loss_.value(cell.y, z);
      pass.loss += value;
      pass.gap += value - loss_.dual(cell.y, cell.c, cell.beta) + cell.beta * z;
    }
    const double next = descent_step(loss_, cell.y, cell.c, cell.beta, z, cell.q), change = next - cell.beta;
    if (change == 0) return;
    double& violation = std::abs(next) > std::abs(cell.beta) ? pass.growing : pass.falling;
    violation = std::max(violation, -slack);
    cell.beta = next;
    rows_.add(i, change, w_.data());
    total_ += change;
    ++pass.changes;
  }

  /// Closes the ranks after an epoch in which rows were shrunk; neighbours stay neighbours.
  void compact() {
    const auto end = std::remove(order_.begin(), order_.begin() + active_, gone);
    const Index left = end - order_.begin();
    if (left == active_) return;
    active_ = left;
    runs_.resize(static_cast<std::size_t>((active_ + length - 1) / length));
    std::iota(runs_.begin(), runs_.end(), 0u);
  }

  /// w̄ ← w̄ + (w − w̄)·4/(k+3): weights rising as k³ (Shamir, Zhang 2013), so that the later half counts. Taking the
  /// present with that probability instead draws one moment with the same weights.
  void update_average() {
    const double t = 4.0 / (static_cast<double>(iterations_) + 3.0);
    if (options_.output != DescentOptions::Output::random)
      approach(t);
    else if (random_.uniform() < t)
      approach(1.0);
  }

  void approach(double t) {
    for (std::size_t j = 0; j < w_.size(); ++j) average_[j] += t * (w_[j] - average_[j]);
    average_b_ += t * (intercept() - average_b_);
    for (std::size_t i = 0; i < average_beta_.size(); ++i) average_beta_[i] += t * (cells_[i].beta - average_beta_[i]);
  }

  /// Is the judge to be asked now, and what does he say? True: leave.
  bool decide(const Pass& pass, Answer& answer) {
    if (pass.whole || size_ == 0) size_ = 0.5 * squared(w_) + pass.loss;
    const double estimate = pass.gap / std::max(size_, 1e-300);
    // The terms were taken before their rows' steps: after a long pass a few rows tell better where it ended, unless
    // most of the gap is in fewer still, as the judge will say.
    double seen = pass.sampled ? estimate : infinity;
    if (!pass.sampled && doubt_ <= far_off && estimate * ratio_ < much * control_.tol &&
        4 * pass.visits > problem_.n()) {
      const Sampled sum = sampled(w_, intercept());
      seen = sum.gap / std::max(0.5 * squared(w_) + sum.loss, 1e-300);
    }
    const double predicted = seen < infinity ? seen * doubt_ : estimate * ratio_;
    bool due = predicted <= control_.tol || iterations_ >= 2 * last_asked_ + 20;
    if (options_.stopping == DescentOptions::Stopping::kkt)
      due = !pass.sampled && pass.violation() <= options_.kkt_tolerance;
    // an epoch drawn with replacement misses a row with probability 1/e: only many idle ones say that nothing moves
    idle_ = pass.changes == 0 ? idle_ + 1 : 0;
    const bool stuck = idle_ >= (options_.order == DescentOptions::Order::random ? 30 : 1);
    const bool show = control_.watched() && epochs_ >= shown_ + 0.999;  // passes over few rows are not worth a look
    if (!due && !stuck && !show) return give_up(pass);
    shown_ = epochs_;
    if (stuck) approach(1.0);  // what no longer changes is its own average
    fill(answer);
    const auto purpose = due || stuck ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, options_.name, epochs_, active_, answer.w, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (purpose == Control::Purpose::show) return give_up(pass);
    last_asked_ = iterations_;
    const Certificate& certificate = control_.certificate();
    size_ = std::max(std::abs(certificate.primal), std::abs(certificate.dual));
    if (std::isfinite(certificate.relative_gap)) {
      if (seen > 0 && seen < infinity) doubt_ = std::max(1.05 * certificate.relative_gap / seen, 1.1);
      if (!pass.sampled && estimate > 0) ratio_ = std::clamp(1.05 * certificate.relative_gap / estimate, 0.02, 20.0);
    }
    misled_ = estimate * ratio_ <= control_.tol ? misled_ + 1 : 0;
    const bool whole = pass.whole && active_ == problem_.n();
    open();  // the judge saw what the shrunk rows hide
    if (options_.stopping == DescentOptions::Stopping::kkt && whole) {
      control_.stop(Status::stalled);
      return true;
    }
    if (stuck && whole && free_ * std::abs(total_) <= 1e-15 * std::abs(multiplier_)) {
      control_.stop(Status::stalled);
      return true;
    }
    return give_up(pass);
  }

  /// How many more epochs at the present pace? Beyond the patience another method had better go on. Passes over few
  /// rows are cheap, so what counts is their size. Early on the primal is far above its end, and a relative gap of 1
  /// says nothing: then the gap itself is watched, on its way to tol times ½‖w‖², which settles before the primal does.
  /// Rows that are shrunk and come back make it jump up and down, so the mean of the last quarter of all epochs is held
  /// against that of the quarter before.
  bool give_up(const Pass& pass) {
    if (misled_ > 20 && epochs_ > options_.patience) return true;  // our estimate says done, the judge says otherwise
    if (epochs_ > 20 * options_.patience) return true;             // whatever the forecast says
    if (pass.gap > 0 && epochs_ >= static_cast<double>(logs_.size()) * span)
      logs_.push_back(logs_.back() + std::log(pass.gap));
    const std::size_t last = logs_.size() - 1, quarter = last / 4;
    if (quarter < 2 || epochs_ < options_.least_epochs) return false;
    const auto mean = [&](std::size_t end) {
      return (logs_[end] - logs_[end - quarter]) / static_cast<double>(quarter);
    };
    const double now = mean(last), rate = (mean(last - quarter) - now) / (static_cast<double>(quarter) * span);
    const double gap = std::exp(now) * ratio_, size = gap < 0.5 * size_ ? size_ : std::min(size_, 0.5 * squared(w_));
    return std::log(gap / (control_.tol * size)) / std::max(rate, 1e-6) > options_.patience;
  }

  /// The point to show, as the options ask.
  void fill(Answer& answer) {
    using Output = DescentOptions::Output;
    bool averaged = options_.output != Output::last && iterations_ > 0;
    if (options_.output == Output::better)
      averaged =
          iterations_ > 1 && !control_.broken_off() && sampled_gap(average_, average_b_) < sampled_gap(w_, intercept());
    if (averaged && !average_beta_.empty()) {
      answer.beta = average_beta_;
    } else {
      answer.beta.resize(cells_.size());
      for (std::size_t i = 0; i < cells_.size(); ++i) answer.beta[i] = cells_[i].beta;
    }
    answer.w = averaged ? average_ : w_;
    answer.b = averaged ? average_b_ : intercept();
    if (problem_.intercept == Intercept::none) answer.b = 0;
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

  struct Sampled {
    double loss = 0, gap = 0;  // Σ cℓ and Σ Fenchel–Young terms with the present β
  };
  /// Sums over all rows, from one in 32 of them, or where that is less from a thousand; the clock is not looked at
  /// where it has already spoken.
  Sampled sampled(const std::vector<double>& w, double b) {
    const Index n = problem_.n(), step = std::clamp<Index>(n / 1000, 1, 32);
    const bool over = control_.stopped();
    Sampled sum;
    Index count = 0;
    for (Index i = iterations_ % step; i < n; i += step, ++count) {
      if (!over && control_.tick(rows_.entries(i))) break;
      const Cell& cell = cells_[i];
      const double z = rows_.dot(i, w.data()) + b, value = cell.c * loss_.value(cell.y, z);
      sum.loss += value;
      sum.gap += value - loss_.dual(cell.y, cell.c, cell.beta) + cell.beta * z;
    }
    const double share = static_cast<double>(n) / static_cast<double>(std::max<Index>(count, 1));
    return {sum.loss * share, sum.gap * share};
  }
  /// P(w, b) − D(β) by that sample, but for what no point changes. A row's share of it is never negative and small near
  /// the end, so that a thousand rows tell far more of it than of P.
  double sampled_gap(const std::vector<double>& w, double b) {
    double apart = 0;
    for (std::size_t j = 0; j < w.size(); ++j) apart += (w[j] - w_[j]) * (w[j] - w_[j]);
    const double regularized = problem_.scale2() > 0 ? 0.5 * b * b / problem_.scale2() : 0.0;
    return 0.5 * apart + regularized - b * total_ + sampled(w, b).gap;
  }

  void finish(Answer& answer) {
    if (!answer.judged) fill(answer);
  }

  const Problem& problem_;
  const Rows& rows_;
  const Loss& loss_;
  const DescentOptions& options_;
  Control& control_;
  Random random_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> order_, runs_;  // the rows that take part, in storage order; their runs, in visiting order
  std::vector<double> w_, average_, average_beta_;  // β̄ only where it is to be handed out
  bool watching_;                                   // do projected gradients matter?
  double average_b_ = 0;
  double total_ = 0;       // Σβ
  double multiplier_ = 0;  // free intercept: the last b
  double free_ = 0;        // free intercept: the weight of the implied column around it
  double scale2_ = 0;
  double growing_ = infinity, falling_ = infinity;  // of the epoch before
  double size_ = 0;                                 // of the objective, to make gaps relative
  double ratio_ = Loss::kinked ? 1.5 : 0.3;         // judged gap / summed Fenchel–Young terms
  double doubt_ = 1.5;                              // judged gap / that of a sample of rows
  double epochs_ = 0, shown_ = 0;
  std::vector<double> logs_{0.0};  // sums of log gap, one more every `span`
  Index active_ = 0, iterations_ = 0, last_asked_ = 0, idle_ = 0, misled_ = 0;
};

}  // namespace

void descend(const Problem& problem, Answer& answer, const DescentOptions& options, Control& control) {
  std::visit([&](const auto& rows, const auto& loss) { Descent(problem, rows, loss, options, control).run(answer); },
             problem.rows, problem.loss);
}

}  // namespace dualgap
