// pegasos: stochastic subgradient steps on the primal.
//
//   min over w of  (λ/2)‖w‖² + (1/n) Σ φᵢ(xᵢᵀw),   λ = 1/(nC)
//
//   for t = 1, 2, …:  draw a batch A of k rows,   w ← (1 − ηλ)w − (η/k) Σ_{i∈A} φᵢ′(xᵢᵀw) xᵢ,   η = 1/(λt)
//                     w ← w · min(1, r/‖w‖)      (projection onto a ball that holds the optimum)
//
// Source: 004 §2, 000 §VII; Shalev-Shwartz, Singer, Srebro, Cotter, Mathematical Programming 2011, figures 1 and 2.
// What differs, and why:
// - Since (1 − ηλ) = 1 − 1/t, w stays (1/λt) times a sum of subgradients, so it is Σ βᵢxᵢ with βᵢ the mean of −cφ′ over
//   the epochs when every row comes once an epoch (order: permuted): inside its box, a dual point at no cost, and the
//   judge has a gap to measure where the method itself knows none.
// - w is kept as s·v with the number s apart, and β as s·γ: a sparse step costs its entries, not p. The average over
//   steps comes from v and one more vector, r = Σ (Σ_{τ<t} s_τ) δₜ:  Σ s_τ v_τ = (Σ s_τ) v − r.
// - The ball: ‖w‖² ≤ P(0) for the hinge, as in the paper; 2 P(0) for every other loss.
//
// Cost of an epoch: two reads of each row, three with the projection and batches. Memory: 20 bytes a row, 24 a feature.
#include "solvers/pegasos.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace dualgap {

namespace {

template <class Rows>
class Pegasos {
 public:
  Pegasos(const Problem& problem, const Rows& rows, const PegasosOptions& options, Control& control)
      : problem_(problem),
        rows_(rows),
        options_(options),
        control_(control),
        random_(options.seed),
        order_(problem.n()),
        v_(rows.cols()),
        past_(rows.cols()),
        gamma_(problem.n()) {}

  void run(Answer& answer) {
    start(answer);
    while (!control_.over(epochs_)) {
      epoch();
      if (control_.stopped()) break;
      ++iterations_;
      if (decide(answer)) break;
    }
    if (!answer.judged) fill(answer);
  }

 private:
  void start(const Answer& answer) {
    std::iota(order_.begin(), order_.end(), 0u);
    t_ = options_.steps;
    if (t_ > 0 && !answer.w.empty()) {
      v_ = answer.w;
      column_ = problem_.scale2() > 0 ? answer.b / problem_.scale2() : 0.0;
    }
    double at_zero = 0;
    for (Index i = 0; i < problem_.n(); ++i) at_zero += problem_.cost(i) * value_at_zero(i);
    ball_ = std::holds_alternative<Hinge>(problem_.loss) ? at_zero : 2 * at_zero;
  }

  void epoch() {
    const Index n = problem_.n(), k = std::clamp<Index>(options_.batch, 1, n);
    const bool permuted = options_.order == PegasosOptions::Order::permuted;
    if (permuted) random_.shuffle(std::span(order_));
    if (options_.average == PegasosOptions::Average::suffix && (iterations_ & (iterations_ - 1)) == 0) forget();
    norm2_ = squared();
    batch_.resize(k);
    Index work = 0;
    for (Index first = 0; first < n; first += k) {
      const Index size = std::min(k, n - first);
      for (Index m = 0; m < size; ++m) {
        const std::uint32_t i = permuted ? order_[first + m] : random_.below(static_cast<std::uint32_t>(n));
        const double z = s_ * product(i);
        batch_[m] = {i, pull(i, z)};
        work += 2 * rows_.entries(i);
      }
      step(size);
      if (control_.tick(std::exchange(work, 0))) break;
    }
    epochs_ += 1;
  }

  double value_at_zero(Index i) const {
    return std::visit([&](const auto& loss) { return loss.value(problem_.y[i], 0.0); }, problem_.loss);
  }
  /// −cφ′(z): the loss is looked up row by row, which costs nothing beside the row, and compiles once.
  double pull(Index i, double z) const {
    const double y = problem_.y[i], c = problem_.cost(i);
    return std::visit([&](const auto& loss) { return loss.prox(y, c, 0.0, z, 0.0).beta; }, problem_.loss);
  }

  /// w ← (1 − 1/t)w + (n/kt) Σ Bᵢxᵢ, then the projection; B = −cφ′, and 1/λ = nC is in c.
  void step(Index size) {
    t_ += 1;
    if (t_ == 1)
      restart();
    else
      scale(1 - 1 / t_);
    const double rate = static_cast<double>(problem_.n()) / (static_cast<double>(size) * t_) / s_;
    for (Index m = 0; m < size; ++m)
      if (batch_[m].pull != 0) add(batch_[m].row, rate * batch_[m].pull);
    const double w2 = s_ * s_ * norm2_;
    if (options_.projection && w2 > ball_) scale(std::sqrt(ball_ / w2));
    seen_ += s_;
    ++count_;
  }

  /// v ← v + d·xᵢ, with its norm, its dual point and its average.
  void add(std::uint32_t i, double d) {
    if (options_.projection) {
      const double q = squared_norm(rows_, i) + problem_.scale2();
      norm2_ += d * (2 * product(i) + d * q);
    }
    rows_.add(i, d, v_.data());
    column_ += d;
    gamma_[i] += d;
    if (options_.average == PegasosOptions::Average::none) return;
    rows_.add(i, d * seen_, past_.data());
    past_column_ += d * seen_;
  }

  /// Before s is so small that the sum for the average would be a difference of large numbers it goes into v.
  void scale(double factor) {
    s_ *= factor;
    if (s_ > 1e-6) return;
    for (std::size_t j = 0; j < v_.size(); ++j) past_[j] -= seen_ * v_[j];
    past_column_ -= seen_ * column_;
    seen_ = 0;
    for (double& x : v_) x *= s_;
    for (double& x : gamma_) x *= s_;
    column_ *= s_;
    norm2_ *= s_ * s_;
    s_ = 1;
  }

  void restart() {
    std::fill(v_.begin(), v_.end(), 0.0);
    std::fill(gamma_.begin(), gamma_.end(), 0.0);
    column_ = norm2_ = 0;
    s_ = 1;
  }

  void forget() {
    std::fill(past_.begin(), past_.end(), 0.0);
    past_column_ = seen_ = count_ = 0;
  }

  /// xᵢᵀv with the implied column.
  double product(std::uint32_t i) const { return rows_.dot(i, v_.data()) + problem_.scale2() * column_; }

  double squared() const {
    return std::inner_product(v_.begin(), v_.end(), v_.begin(), 0.0) + problem_.scale2() * column_ * column_;
  }

  bool decide(Answer& answer) {
    const bool due = iterations_ >= next_;
    if (!due && !control_.watched()) return false;
    if (due) next_ = iterations_ + std::max<Index>(1, iterations_ / 4);
    fill(answer);
    const auto purpose = due ? Control::Purpose::decide : Control::Purpose::show;
    answer.judged = control_.ask(problem_, "pegasos", epochs_, problem_.n(), answer.w, answer.b, answer.beta, purpose);
    return answer.judged;
  }

  void fill(Answer& answer) const {
    answer.w.resize(v_.size());
    answer.beta.resize(gamma_.size());
    const bool averaged = options_.average != PegasosOptions::Average::none && count_ > 0;
    for (std::size_t j = 0; j < v_.size(); ++j)
      answer.w[j] = averaged ? (seen_ * v_[j] - past_[j]) / count_ : s_ * v_[j];
    const double column = averaged ? (seen_ * column_ - past_column_) / count_ : s_ * column_;
    answer.b = problem_.scale2() * column;
    for (std::size_t i = 0; i < gamma_.size(); ++i) answer.beta[i] = s_ * gamma_[i];
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

  struct Pull {
    std::uint32_t row;
    double pull;
  };

  const Problem& problem_;
  const Rows& rows_;
  const PegasosOptions& options_;
  Control& control_;
  Random random_;
  std::vector<std::uint32_t> order_;
  std::vector<Pull> batch_;
  std::vector<double> v_, past_, gamma_;  // w = s·v, β = s·γ
  double s_ = 1, t_ = 0;
  double column_ = 0, past_column_ = 0;  // the implied column's share: Σγ
  double norm2_ = 0, ball_ = infinity;
  double seen_ = 0, count_ = 0;  // Σ s over the steps averaged, and how many
  double epochs_ = 0;
  Index iterations_ = 0, next_ = 2;
};

}  // namespace

void pegasos(const Problem& problem, Answer& answer, const PegasosOptions& options, Control& control) {
  std::visit([&](const auto& rows) { Pegasos(problem, rows, options, control).run(answer); }, problem.rows);
}

}  // namespace dualgap
