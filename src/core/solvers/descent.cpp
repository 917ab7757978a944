// The engine of dual coordinate descent: what dcd.cpp and sdca.cpp describe, once.
//
//   for i in the chosen order:  z ← xᵢᵀw + b,   B ← step(βᵢ, z, ‖xᵢ‖² + s²),   w ← w + (B − βᵢ)xᵢ,   βᵢ ← B
//
// Each visit adds its row's Fenchel–Young term, which is that row's share of the gap; when the sum says that the judge
// will agree, the judge is asked.
#include "solvers/descent.hpp"

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
      if (options_.begin == DescentOptions::Begin::given) move(i, cells_[i].beta);
    }
    if (problem_.intercept == Intercept::free) {
      free_ = std::max(squares / static_cast<double>(n), 1e-300);
      multiplier_ = answer.b;
    }
    scale2_ = problem_.scale2() + free_;
    for (Cell& cell : cells_) cell.q += scale2_;
    std::iota(order_.begin(), order_.end(), 0u);
    active_ = n;
    if (options_.output > DescentOptions::Output::last) average_beta_.resize(n);
    if (options_.begin == DescentOptions::Begin::sgd) stochastic_start();
  }

  /// w ← w + change·xᵢ, and Σβ with it.
  void move(Index i, double change) {
    if (change == 0) return;
    rows_.add(i, change, w_.data());
    total_ += change;
  }

  /// One pass of modified stochastic gradient steps: row t is placed as if the t rows so far, their costs raised to the
  /// whole's, were the problem; its w is then scale·Σβx, and the scale is 1 when all are in.
  void stochastic_start() {
    random_.shuffle(std::span(order_));
    double all = 0, seen = 0;
    for (const Cell& cell : cells_) all += cell.c;
    for (const std::uint32_t i : order_) {
      if (control_.tick(rows_.entries(i))) break;
      Cell& cell = cells_[i];
      cell.beta = 0;
      if (cell.c <= 0) continue;
      const double z = seen > 0 ? (rows_.dot(i, w_.data()) + intercept()) * (all / seen) : 0.0;
      seen += cell.c;
      cell.beta = loss_.prox(cell.y, cell.c, 0.0, z, cell.q * (all / seen)).beta;
      move(i, cell.beta);
    }
    epochs_ += 1;
  }

  double intercept() const { return multiplier_ + scale2_ * total_; }

  Pass epoch() {
    Pass pass;
    pass.whole = active_ == problem_.n();
    if (options_.order == DescentOptions::Order::permuted) random_.shuffle(std::span(order_).first(active_));
    const double shrink_at = options_.shrinking ? threshold_ : infinity;
    const bool replace = options_.order == DescentOptions::Order::random;
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
    control_.tick(work);
    pass.gap *= Loss::check_every;
    pass.loss *= Loss::check_every;
    epochs_ += static_cast<double>(pass.visits) / static_cast<double>(problem_.n());
    threshold_ = pass.violation > 0 ? pass.violation : infinity;
    return pass;
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
    const double estimate = pass.gap / std::max(size_, 1e-300), predicted = estimate * ratio_;
    bool due = predicted <= control_.tol || iterations_ >= 2 * last_asked_ + 20;
    if (options_.stopping == DescentOptions::Stopping::kkt) due = pass.violation <= options_.kkt_tolerance;
    // an epoch drawn with replacement misses a row with probability 1/e: only many idle ones say that nothing moves
    idle_ = pass.changes == 0 ? idle_ + 1 : 0;
    const bool stuck = idle_ >= (options_.order == DescentOptions::Order::random ? 30 : 1);
    if (!due && !stuck && !control_.watched()) return give_up(predicted);
    if (stuck) approach(1.0);  // what no longer changes is its own average
    fill(answer);
    const auto purpose = due || stuck ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, options_.name, epochs_, active_, answer.w, answer.b, answer.beta, purpose)) {
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
    if (options_.stopping == DescentOptions::Stopping::kkt && whole) {
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
    if (iterations_ < 5 || epochs_ < 0.1 * options_.patience) return false;
    const double rate = std::log(before / predicted) / 4;  // per epoch
    const double need = std::log(predicted / control_.tol) / std::max(rate, 1e-6);
    return need > options_.patience;
  }

  /// The point to show, as the options ask.
  void fill(Answer& answer) {
    using Output = DescentOptions::Output;
    bool averaged = options_.output != Output::last && iterations_ > 0;
    if (options_.output == Output::better)
      averaged = iterations_ > 1 && sampled(average_, average_b_) < sampled(w_, intercept());
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
  const DescentOptions& options_;
  Control& control_;
  Random random_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> order_;
  std::vector<double> w_, average_, average_beta_;  // β̄ only where it is to be handed out
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
  Index active_ = 0, iterations_ = 0, last_asked_ = 0, idle_ = 0;
};

}  // namespace

void descend(const Problem& problem, Answer& answer, const DescentOptions& options, Control& control) {
  std::visit([&](const auto& rows, const auto& loss) { Descent(problem, rows, loss, options, control).run(answer); },
             problem.rows, problem.loss);
}

}  // namespace dualgap
