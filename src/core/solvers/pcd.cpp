// pcd: primal coordinate descent, one weight at a time over columns.
//
//   min over w, b of  P(w, b) = ½‖w‖² + R(b) + Σ cᵢ ℓ(yᵢ, zᵢ),   z = Xw + b,   ℓ with a derivative
//
//   for j in a permutation:  g ← wⱼ − Σ βᵢ xᵢⱼ,  h ← 1 + Σ slopeᵢ xᵢⱼ²,  d ← −g/h   (β = −cℓ′(z), slope = cℓ″(z))
//     the first t of 1, ½, ¼, … with P(w + t d eⱼ) − P(w) ≤ −σ t² d²;   wⱼ ← wⱼ + t d,  z ← z + t d X·ⱼ
//
// Source: 000 §VII; Chang, Hsieh, Lin, JMLR 2008, algorithm 2 (CDPER with σ = 0.01). What differs: the gap decides
// (½‖g‖² with β = −cℓ′(z), here from the g of one sweep, and then the judge); an intercept is one more column, never
// stored; a step whose decrease is below the rounding of the losses it changes is taken without the test.
//
// Cost of an epoch: two reads of each column. Memory: a copy of the data by columns, 12 bytes an entry that is not
// zero, 24 bytes a row and 28 a feature.
#include "solvers/pcd.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "passes/passes.hpp"
#include "rows/columns.hpp"

namespace dualgap {

namespace {

constexpr double sigma = 0.01;

/// The implied column of the intercept: one value in every row.
struct Constant {
  Index rows;
  double value;
  Index size() const { return rows; }
  template <class F>
  void each(F f) const {
    for (Index i = 0; i < rows; ++i) f(i, value);
  }
};

struct Column {
  const Columns& columns;
  Index j;
  Index size() const { return columns.size(j); }
  template <class F>
  void each(F f) const {
    columns.each(j, f);
  }
};

template <class Loss>
class Sweeps {
 public:
  Sweeps(const Problem& problem, const Loss& loss, const PcdOptions& options, Control& control)
      : problem_(problem),
        loss_(loss),
        control_(control),
        random_(options.seed),
        columns_(problem.rows),
        work_(std::max<Index>(columns_.entries(), problem.n())),
        w_(problem.p()),
        z_(problem.n()),
        order_(problem.p()) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  void run(Answer& answer) {
    start(answer);
    while (!control_.over(epochs_)) {
      const Sweep done = sweep();
      if (control_.stopped()) break;
      ++iterations_;
      if (decide(done, answer)) break;
    }
    if (!answer.judged) fill(answer);
  }

 private:
  struct Sweep {
    double gap = 0;  // ½‖g‖², each coordinate when it was visited
    Index changes = 0;
  };

  void start(Answer& answer) {
    const bool both = !answer.w.empty() && !answer.beta.empty();
    Passes passes(problem_.rows, control_.team);
    if (!answer.w.empty()) {
      w_ = answer.w;
    } else if (!answer.beta.empty()) {
      make_feasible(problem_, answer.beta);
      passes.combination(answer.beta, w_);
    }
    b_ = problem_.intercept == Intercept::none ? 0.0 : answer.b;
    passes.scores(w_, b_, z_);
    epochs_ += 1;
    if (both && control_.ask(problem_, "pcd", epochs_, problem_.p(), w_, b_, answer.beta, Control::Purpose::decide)) {
      answer.b = b_;
      answer.epochs = epochs_;
      answer.judged = true;
    }
  }

  Sweep sweep() {
    Sweep done;
    random_.shuffle(std::span(order_));
    Index touched = 0;
    for (const std::uint32_t j : order_) {
      const Index before = touched;
      const double g = step(Column{columns_, j}, 1.0, w_[j], touched, done.changes);
      done.gap += 0.5 * g * g;
      if (control_.tick(touched - before)) break;
    }
    const double s2 = problem_.scale2();
    if (problem_.intercept == Intercept::regularized) {  // in b itself: R(b) = b²/(2s²)
      const double g = step(Constant{problem_.n(), 1.0}, 1 / s2, b_, touched, done.changes);
      done.gap += 0.5 * s2 * g * g;
    } else if (problem_.intercept == Intercept::free) {
      step(Constant{problem_.n(), 1.0}, 0.0, b_, touched, done.changes);
    }
    epochs_ += 0.5 * static_cast<double>(touched) / static_cast<double>(work_);
    return done;
  }

  /// One Newton step on one coordinate with penalty ½·weight·w²; the derivative before it.
  template <class Part>
  double step(const Part& part, double weight, double& w, Index& touched, Index& changes) {
    double g = weight * w, h = weight, size = 0;
    part.each([&](Index i, double x) {
      const Step at = loss_.prox(problem_.y[i], problem_.cost(i), 0.0, z_[i], 0.0);
      g -= at.beta * x;
      h += at.slope * x * x;
    });
    touched += part.size();
    if (g == 0) return g;
    double d = h > 0 ? -g / h : g > 0 ? -1 : 1;  // no curvature: a free intercept far from every bend
    for (int halvings = 0; halvings < 60; ++halvings, d *= 0.5) {
      double change = weight * d * (w + 0.5 * d);
      size = weight * std::abs(w * d);
      part.each([&](Index i, double x) {
        const double y = problem_.y[i], c = problem_.cost(i), now = c * loss_.value(y, z_[i]);
        change += c * loss_.value(y, z_[i] + d * x) - now;
        size += now;
      });
      touched += part.size();
      if (change <= -sigma * d * d || -0.5 * g * d <= 1e-13 * size) break;
    }
    if (w + d == w) return g;
    w += d;
    part.each([&](Index i, double x) { z_[i] += d * x; });
    ++changes;
    return g;
  }

  bool decide(const Sweep& done, Answer& answer) {
    const double size = std::max(objective(), 1e-300), estimate = done.gap / size;
    const bool stuck = done.changes == 0;
    const bool due = estimate * ratio_ <= control_.tol || iterations_ >= 2 * last_asked_ + 20 || stuck;
    if (!due && !control_.watched()) return false;
    fill(answer);
    const auto purpose = due ? Control::Purpose::decide : Control::Purpose::show;
    if (control_.ask(problem_, "pcd", epochs_, problem_.p(), answer.w, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (!due) return false;
    last_asked_ = iterations_;
    if (estimate > 0) ratio_ = std::clamp(control_.certificate().relative_gap / estimate, 0.01, 100.0);
    if (stuck) control_.stop(Status::stalled);
    return stuck;
  }

  double objective() const {
    double value = 0.5 * std::inner_product(w_.begin(), w_.end(), w_.begin(), 0.0);
    if (problem_.intercept == Intercept::regularized) value += 0.5 * b_ * b_ / problem_.scale2();
    for (Index i = 0; i < problem_.n(); ++i) value += problem_.cost(i) * loss_.value(problem_.y[i], z_[i]);
    return value;
  }

  void fill(Answer& answer) const {
    answer.w = w_;
    answer.b = b_;
    answer.beta.resize(z_.size());
    for (Index i = 0; i < problem_.n(); ++i)
      answer.beta[i] = loss_.prox(problem_.y[i], problem_.cost(i), 0.0, z_[i], 0.0).beta;
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

  const Problem& problem_;
  const Loss& loss_;
  Control& control_;
  Random random_;
  const Columns columns_;
  const Index work_;  // entries of a pass
  std::vector<double> w_, z_;
  std::vector<std::uint32_t> order_;
  double b_ = 0, epochs_ = 0, ratio_ = 1;
  Index iterations_ = 0, last_asked_ = 0;
};

}  // namespace

void pcd(const Problem& problem, Answer& answer, const PcdOptions& options, Control& control) {
  std::visit([&](const auto& loss) { Sweeps(problem, loss, options, control).run(answer); }, problem.loss);
}

}  // namespace dualgap
