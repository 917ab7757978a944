// dcd: dual coordinate descent.
//
//   max over β of  D(β) = −½‖w‖² − ½s²(Σβ)² − Σ cᵢ ℓ*(yᵢ, −βᵢ/cᵢ),   w = Σ βᵢxᵢ
//
//   for i in the chosen order:  z ← xᵢᵀw + b,   B ← step(βᵢ, z, ‖xᵢ‖² + s²),   w ← w + (B − βᵢ)xᵢ,   βᵢ ← B
//
// Source: 000 §III–V, 003 algorithm 1, 002 §2.2; Hsieh et al., ICML 2008, algorithms 1 and 3 (shrinking); Yu, Huang,
// Lin, MLJ 2011 (logistic); Ho, Lin, JMLR 2012 (regression). What differs, and why:
// - The relative gap decides, not the projected gradient. Each visit adds its row's Fenchel–Young term, which is that
//   row's share of the gap; when the sum says that the judge will agree, the judge is asked (ADR 3).
// - The primal point is the average of the epochs' w with weights rising as k³, or the last w, whichever is better on a
//   sample of rows: 3 to 20 times closer to the optimum for kinked losses, and as certifiable.
// - One threshold for shrinking, the largest projected gradient of the epoch before, serves every loss through `slack`.
// - A free intercept is a method of multipliers on Σβ = 0 (Hestenes, Powell 1969): the implied column is put around the
//   last b, and b moves by s²Σβ after each epoch.
//
// Cost of an epoch: two reads of each active row. Memory: 44 bytes a row, 16 a feature.
#include "solvers/dcd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace dualgap {

namespace {

template <class Rows, class Loss>
class Descent {
 public:
  Descent(const Problem& problem, const Rows& rows, const Loss& loss, const DcdOptions& options, Control& control)
      : problem_(problem),
        rows_(rows),
        loss_(loss),
        options_(options),
        control_(control),
        random_(options.seed),
        cells_(problem.n()),
        order_(problem.n()),
        w_(rows.cols()),
        average_(rows.cols()) {}

  void run(Answer& answer) {
    start(answer);
    while (!control_.stopped()) {
      if (control_.epochs_left(epochs_) <= 0) {
        control_.stop(Status::max_iter);
        break;
      }
      const Pass pass = epoch();
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
    double beta, q, y, c;
  };
  /// What one epoch saw.
  struct Pass {
    double gap = 0;        // Σ Fenchel–Young terms
    double loss = 0;       // Σ cℓ
    double violation = 0;  // largest projected gradient
    Index visits = 0, changes = 0;
    bool whole = true;  // no row was shrunk when it began
  };
  static constexpr Index near = 4, far = 12;  // how many rows ahead the row and its place are fetched

  void start(const Answer& answer) {
    const Index n = problem_.n();
    double squares = 0;
    for (Index i = 0; i < n && !control_.tick(rows_.entries(i)); ++i) {
      const double beta = answer.beta.empty() ? 0.0 : answer.beta[i], c = problem_.cost(i), y = problem_.y[i];
      const double q = squared_norm(rows_, i);
      squares += q;
      cells_[i] = {loss_.box(y, c).clip(beta), q, y, c};
      if (cells_[i].beta != 0) rows_.add(i, cells_[i].beta, w_.data());
      total_ += cells_[i].beta;
    }
    if (problem_.intercept == Intercept::free) {
      free_ = std::max(squares / static_cast<double>(n), 1e-300);
      multiplier_ = answer.b;
    }
    scale2_ = problem_.scale2() + free_;
    for (Cell& cell : cells_) cell.q += scale2_;
    std::iota(order_.begin(), order_.end(), 0u);
    active_ = n;
  }

  double intercept() const { return multiplier_ + scale2_ * total_; }

  Pass epoch() {
    Pass pass;
    pass.whole = active_ == problem_.n();
    if (options_.order == DcdOptions::Order::permuted) random_.shuffle(std::span(order_).first(active_));
    const double shrink_at = options_.shrinking ? threshold_ : infinity;
    const bool replace = options_.order == DcdOptions::Order::random;
    const Index visits = active_;
    Index work = 0;
    for (Index k = 0, visit = 0; visit < visits && k < active_; ++visit) {
      if ((visit & 127) == 0) {
        if (control_.tick(work)) break;
        work = 0;
      }
      if (k + far < active_) {
        rows_.prefetch_place(order_[k + far]);
        __builtin_prefetch(&cells_[order_[k + far]]);
        rows_.prefetch(order_[k + near]);
      }
      const Index at = replace ? random_.below(static_cast<std::uint32_t>(active_)) : k;
      const Index i = order_[at];
      Cell& cell = cells_[i];
      const double z = rows_.dot(i, w_.data()) + intercept();
      work += rows_.entries(i);
      ++pass.visits;
      const double slack = loss_.slack(cell.y, cell.c, cell.beta, z);
      if (slack > shrink_at) {
        std::swap(order_[at], order_[--active_]);
        if (replace) ++k;
        continue;
      }
      pass.violation = std::max(pass.violation, -slack);
      if (visit % Loss::check_every == 0) {
        const double value = cell.c * loss_.value(cell.y, z);
        pass.loss += value;
        pass.gap += value - loss_.dual(cell.y, cell.c, cell.beta) + cell.beta * z;
      }
      const double next = loss_.prox(cell.y, cell.c, cell.beta, z, cell.q).beta, change = next - cell.beta;
      if (change != 0) {
        cell.beta = next;
        rows_.add(i, change, w_.data());
        total_ += change;
        ++pass.changes;
      }
      ++k;
    }
    pass.gap *= Loss::check_every;
    pass.loss *= Loss::check_every;
    epochs_ += static_cast<double>(pass.visits) / static_cast<double>(problem_.n());
    threshold_ = pass.violation > 0 ? pass.violation : infinity;
    return pass;
  }

  /// w̄ ← w̄ + (w − w̄)·4/(k+3): weights rising as k³ (Shamir, Zhang 2013), so that the later half counts.
  void update_average() {
    const double t = 4.0 / (static_cast<double>(iterations_) + 3.0);
    for (std::size_t j = 0; j < w_.size(); ++j) average_[j] += t * (w_[j] - average_[j]);
    average_b_ += t * (intercept() - average_b_);
  }

  /// Is the judge to be asked now, and what does he say? True: leave.
  bool decide(const Pass& pass, Answer& answer) {
    if (pass.whole || size_ == 0) size_ = 0.5 * squared(w_) + pass.loss;
    const double estimate = pass.gap / std::max(size_, 1e-300), predicted = estimate * ratio_;
    bool due = predicted <= control_.tol || iterations_ >= 2 * last_asked_ + 20;
    if (options_.stopping == DcdOptions::Stopping::kkt) due = pass.violation <= options_.kkt_tolerance;
    const bool stuck = pass.changes == 0;
    if (!due && !stuck && !control_.watched()) return give_up(predicted);
    fill(answer);
    const auto purpose = due || stuck ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, "dcd", epochs_, active_, answer.w, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (purpose == Control::Purpose::show) return give_up(predicted);
    last_asked_ = iterations_;
    const Certificate& certificate = control_.certificate();
    size_ = std::max(std::abs(certificate.primal), std::abs(certificate.dual));
    if (estimate > 0 && std::isfinite(certificate.relative_gap))
      ratio_ = std::clamp(1.05 * certificate.relative_gap / estimate, 0.02, 20.0);
    const bool whole = pass.whole && active_ == problem_.n();
    active_ = problem_.n();  // the judge saw what the shrunk rows hide: open them again
    threshold_ = infinity;
    if (options_.stopping == DcdOptions::Stopping::kkt && whole) {
      control_.stop(Status::stalled);
      return true;
    }
    if (stuck && whole && free_ * std::abs(total_) <= 1e-15 * std::abs(multiplier_)) {
      control_.stop(Status::stalled);
      return true;
    }
    return give_up(predicted);
  }

  /// How many more epochs at the present pace? Beyond the patience another method had better go on.
  bool give_up(double predicted) {
    const double before = std::exchange(history_[iterations_ % 4], predicted);
    if (iterations_ < 5 || options_.patience == infinity) return false;
    const double rate = std::log(before / predicted) / 4;  // per epoch
    const double need = std::log(predicted / control_.tol) / std::max(rate, 1e-6);
    return need > options_.patience;
  }

  /// The point to show: the last β with the better of the average and the last w.
  void fill(Answer& answer) {
    answer.beta.resize(cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) answer.beta[i] = cells_[i].beta;
    const bool averaged = iterations_ > 1 && sampled(average_, average_b_) < sampled(w_, intercept());
    answer.w = averaged ? average_ : w_;
    answer.b = averaged ? average_b_ : intercept();
    if (problem_.intercept == Intercept::none) answer.b = 0;
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

  /// P(w, b) on a sample of rows, the same one for every question of an epoch.
  double sampled(const std::vector<double>& w, double b) const {
    const Index n = problem_.n(), step = std::max<Index>(1, std::min<Index>(32, n / 1000));
    double sum = 0;
    Index count = 0;
    for (Index i = iterations_ % step; i < n; i += step, ++count)
      sum += cells_[i].c * loss_.value(cells_[i].y, rows_.dot(i, w.data()) + b);
    const double regularized = problem_.scale2() > 0 ? 0.5 * b * b / problem_.scale2() : 0.0;
    return 0.5 * squared(w) + regularized +
           sum * static_cast<double>(n) / static_cast<double>(std::max<Index>(count, 1));
  }

  static double squared(const std::vector<double>& w) { return std::inner_product(w.begin(), w.end(), w.begin(), 0.0); }

  void finish(Answer& answer) {
    if (!answer.judged) fill(answer);
  }

  const Problem& problem_;
  const Rows& rows_;
  const Loss& loss_;
  const DcdOptions& options_;
  Control& control_;
  Random random_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> order_;
  std::vector<double> w_, average_;
  double average_b_ = 0;
  double total_ = 0;       // Σβ
  double multiplier_ = 0;  // free intercept: the last b
  double free_ = 0;        // free intercept: the weight of the implied column around it
  double scale2_ = 0;
  double threshold_ = infinity;
  double size_ = 0;     // of the objective, to make gaps relative
  double ratio_ = 0.3;  // judged gap / summed Fenchel–Young terms
  double epochs_ = 0;
  double history_[4] = {};
  Index active_ = 0, iterations_ = 0, last_asked_ = 0;
};

}  // namespace

void dcd(const Problem& problem, Answer& answer, const DcdOptions& options, Control& control) {
  std::visit([&](const auto& rows, const auto& loss) { Descent(problem, rows, loss, options, control).run(answer); },
             problem.rows, problem.loss);
}

}  // namespace dualgap
