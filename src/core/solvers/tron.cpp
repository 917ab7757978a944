// tron: trust-region Newton with preconditioned conjugate gradients, matrix-free.
//
//   min over w, b of  P(w, b) = ½‖w‖² + R(b) + Σ cᵢ ℓ(yᵢ, zᵢ),   z = Xw + b,   ℓ with a derivative
//
//   g ← w − Xᵀβ,  β = −cℓ′(z);   H ← I + Xᵀ diag(slope) X,  slope = cℓ″(z)   (generalised where ℓ″ jumps)
//   s ← min gᵀs + ½sᵀHs over ‖s‖_M ≤ Δ,   M = (1−μ)I + μ diag(H),  by conjugate gradients, Hs by two products
//   w ← w + t s, t from the derivative along the ray;   Δ from how well the model foretold the decrease
//
// Source: 000 §VII; Lin, Weng, Keerthi, JMLR 2008, algorithms 1 and 2; Hsia, Chiang, Lin, ACML 2018 (the mixed diagonal
// preconditioner); Galli, Lin 2021 (line search). What differs, and why:
// - A step that is cut short or foretold badly is not thrown away: Xs is known, so the ray costs n operations a look.
// - The gap decides. With β = −cℓ′(z) it is ½‖g‖²; the dual point that the linear model foretells, β − slope·Xs, has
//   Xᵀβ = w + s + (the residual of the conjugate gradients) and is often the better one, at no pass over the data.
//   Conjugate gradients need not go below what the tolerance asks of that residual.
// - An intercept is one more column, never stored: of value s (regularized), or 1 without a penalty (free).
//
// Cost: a step reads the rows twice, and the rows with slope ≠ 0 once for each conjugate gradient. Memory: 68 bytes a
// row, 80 a feature, and with threads a few vectors of the features' length more.
#include "solvers/tron.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "passes/passes.hpp"
#include "simd/dot.hpp"

namespace dualgap {

namespace {

using Values = std::vector<double>;

void add(double scale, const Values& a, Values& to) {
  simd::active().add_f64(scale, a.data(), to.data(), static_cast<Index>(a.size()));
}

/// The coefficients with the intercept as the last one, u = b / column, and the penalty on it.
struct Implied {
  double column, penalty;
  explicit Implied(const Problem& problem)
      : column(problem.intercept == Intercept::regularized ? problem.scale
               : problem.intercept == Intercept::free      ? 1.0
                                                           : 0.0),
        penalty(problem.intercept == Intercept::free ? 0.0 : 1.0) {}
};

class TrustRegion {
 public:
  TrustRegion(const Problem& problem, const TronOptions& options, Control& control, Index stride)
      : problem_(problem),
        options_(options),
        control_(control),
        stride_(stride),
        passes_(problem.rows, control.team),
        last_(problem),
        n_(problem.n()),
        p_(problem.p()),
        z_(n_),
        zs_(n_),
        beta_(n_),
        slope_(n_),
        foretold_(n_),
        w_(p_ + 1),
        g_(p_ + 1),
        s_(p_ + 1),
        r_(p_ + 1),
        m_(p_ + 1),
        v_(p_ + 1),
        d_(p_ + 1),
        hd_(p_ + 1) {
    // of every `stride` rows one, not always the same, so that no period in the data is missed
    const auto place = [&](std::uint64_t k) { return (k * 0x9e3779b97f4a7c15u >> 32) % stride; };
    for (Index k = 0; k < n_ / stride; ++k) list_.push_back(static_cast<std::uint32_t>(k * stride + place(k)));
  }

  void run(Answer& answer) {
    start(answer);
    while (!decide(answer)) step();
    if (!answer.judged) fill(answer);
  }

  /// Towards the optimum of the sample, until a step brings little: a start for more rows.
  void approach(Answer& answer) {
    start(answer);
    do {
      step();
    } while (!control_.stopped() && progress_ > 0.03 * value_);
    answer.w.assign(w_.begin(), w_.end() - 1);
    answer.b = last_.column * w_[p_];
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

 private:
  struct Model {
    double decrease;  // −(gᵀs + ½sᵀHs)
    double length;    // ‖s‖_M
    bool cut;         // the trust region ended it
  };
  /// P along the ray w + t s: value, derivative, curvature.
  struct Look {
    double value, slope, curvature;
  };

  void step() {
    if (control_.over(epochs_) || control_.look()) return;
    const Model model = conjugate_gradients();
    if (control_.stopped()) return;
    if (!move(model)) return;
    gradient();
    ++iterations_;
  }

  void start(const Answer& answer) {
    epochs_ = answer.epochs;
    iterations_ = answer.iterations;
    if (!answer.beta.empty()) {
      foretold_ = answer.beta;
      make_feasible(problem_, foretold_);
      passes_.combination(foretold_, Vector(v_).first(p_));
      v_[p_] = last_.column * std::accumulate(foretold_.begin(), foretold_.end(), 0.0);
      spend(1);
      has_foretold_ = true;
    }
    const Values& from = answer.w.empty() ? v_ : answer.w;
    std::copy_n(from.begin(), p_, w_.begin());
    if (last_.column > 0) w_[p_] = answer.b / last_.column;
    scores(w_, z_);
    value_ = look(0).value;
    gradient();
    delta_ = norm_first_ = norm_g_;
  }

  /// z = Xw + b, for the rows of the list.
  bool scores(const Values& w, Values& z) {
    spend(1);
    const ConstVector coef = ConstVector(w).first(p_);
    if (stride_ == 1) return passes_.scores(coef, last_.column * w[p_], z);
    before_.resize(list_.size());
    const bool done = passes_.scores(list_, coef, last_.column * w[p_], before_);
    for (std::size_t k = 0; k < list_.size(); ++k) z[list_[k]] = before_[k];
    return done;
  }

  void spend(double passes) { epochs_ += passes / static_cast<double>(stride_); }

  /// The penalty's part of an inner product: the last coordinate counts with its own weight.
  double penalty(const Values& a, const Values& b) const { return dot(a, b) - (1 - last_.penalty) * a[p_] * b[p_]; }

  /// P, its slope and curvature at w + t s; leaves β and slope there. Blocks are summed in order.
  Look look(double t) {
    const Index size = static_cast<Index>(list_.size());
    const Blocks blocks(size, std::max<Index>(4096, size / 64));
    std::vector<Look> parts(blocks.count);
    std::visit(
        [&](const auto& loss) {
          control_.team.for_each(blocks.count, [&](Index k) {
            Look sum{};
            for (Index at = blocks.begin(k); at < blocks.end(k); ++at) {
              const Index i = list_[at];
              const double y = problem_.y[i], c = cost(i), z = z_[i] + t * zs_[i];
              const Step step = loss.prox(y, c, 0.0, z, 0.0);
              sum.value += c * loss.value(y, z);
              sum.slope -= step.beta * zs_[i];
              sum.curvature += step.slope * zs_[i] * zs_[i];
              beta_[i] = step.beta;
              slope_[i] = step.slope;
            }
            parts[k] = sum;
          });
        },
        problem_.loss);
    const double ww = penalty(w_, w_), ws = penalty(w_, s_), ss = penalty(s_, s_);
    Look all{0.5 * (ww + t * (2 * ws + t * ss)), ws + t * ss, ss};
    for (const Look& part : parts) {
      all.value += part.value;
      all.slope += part.slope;
      all.curvature += part.curvature;
    }
    return all;
  }

  /// g = w − Xᵀβ, the rows with curvature, and the preconditioner (from a sample of them where they are many).
  void gradient() {
    zone_.clear();
    pull_.clear();
    double sum = 0, slopes = 0;
    for (const std::uint32_t i : list_) {
      sum += beta_[i];
      slopes += slope_[i];
      if (beta_[i] != 0) pull_.push_back(i);
      if (slope_[i] != 0) zone_.push_back(i);
    }
    passes_.combination(pull_, beta_, Vector(g_).first(p_));
    spend(share(pull_.size()));
    const Index step = std::max<Index>(1, static_cast<Index>(zone_.size()) / (16 * p_ + 1000));
    passes_.squares(zone_, step, slope_, Vector(m_).first(p_));
    g_[p_] = last_.column * sum;
    m_[p_] = last_.column * last_.column * slopes;
    for (Index j = 0; j <= p_; ++j) {
      const double reg = j < p_ ? 1.0 : last_.penalty, m = reg + options_.mixing * m_[j];
      g_[j] = reg * w_[j] - g_[j];
      m_[j] = m > 1e-300 ? 1 / m : 1;  // an intercept that fits every row better and better bends nothing
    }
    norm_g_ = std::sqrt(scaled(g_, d_));
  }

  double cost(Index i) const { return problem_.cost(i) * static_cast<double>(stride_); }

  /// z = M⁻¹r; returns rᵀz.
  double scaled(const Values& r, Values& z) const {
    for (Index j = 0; j <= p_; ++j) z[j] = r[j] * m_[j];
    return dot(r, z);
  }

  double share(std::size_t rows) const { return static_cast<double>(rows) / static_cast<double>(list_.size()); }

  /// hd = H d
  void multiply(Values& d, Values& hd) {
    const double last = d[p_];
    d[p_] *= last_.column;
    passes_.product(zone_, slope_, d, hd);
    spend(share(zone_.size()));
    d[p_] = last;
    const double there = hd[p_] * last_.column + last_.penalty * last;
    add(1, d, hd);
    hd[p_] = there;
  }

  /// Steihaug's conjugate gradients for Hs = −g inside ‖s‖_M ≤ Δ; r_ is left as −g − Hs.
  Model conjugate_gradients() {
    const double share_left = std::min(options_.forcing, std::sqrt(norm_g_ / norm_first_));
    // a free intercept's dual point is repaired, so there the residual does not tell the gap
    const double enough = last_.penalty > 0 ? 0.05 * control_.tol * std::abs(value_) * strictness_ : 0.0;
    std::fill(s_.begin(), s_.end(), 0.0);
    for (Index j = 0; j <= p_; ++j) r_[j] = -g_[j];
    double rz = scaled(r_, d_), size = 0, sd = 0, dd = rz;  // inner products in M: (s,s), (s,d), (d,d)
    Model model{0, 0, false};
    for (Index k = 0; k < options_.max_inner && !model.cut; ++k) {
      if (k > 0 && (std::sqrt(rz) <= share_left * norm_g_ || 0.5 * dot(r_, r_) <= enough)) break;
      if (rz <= 0) break;
      if (control_.look() || control_.epochs_left(epochs_) <= 0) break;
      multiply(d_, hd_);
      const double curvature = dot(d_, hd_), room = std::max(delta_ * delta_ - size, 0.0);
      const double a = curvature > 0 ? rz / curvature : infinity, reach = room / (sd + std::sqrt(sd * sd + dd * room));
      model.cut = a >= reach;
      const double t = model.cut ? reach : a;
      if (!std::isfinite(t)) break;  // no curvature, and no end of the region in sight
      add(t, d_, s_);
      add(-t, hd_, r_);
      size += t * (2 * sd + t * dd);
      const double next = scaled(r_, hd_), ratio = next / rz;
      for (Index j = 0; j <= p_; ++j) d_[j] = hd_[j] + ratio * d_[j];
      sd = ratio * (sd + t * dd);
      dd = next + ratio * ratio * dd;
      rz = next;
    }
    model.decrease = 0.5 * (dot(s_, r_) - dot(s_, g_));
    model.length = std::sqrt(size);
    return model;
  }

  /// w ← w + t s, and the dual point the linear model foretells there.
  bool move(const Model& model) {
    if (!scores(s_, zs_)) return false;
    before_.resize(n_);
    for (const std::uint32_t i : list_) {
      before_[i] = beta_[i];
      foretold_[i] = slope_[i] * zs_[i];
    }
    has_foretold_ = moved_ = true;
    const double t = ray(model);
    for (const std::uint32_t i : list_) {
      foretold_[i] = before_[i] - t * foretold_[i];
      z_[i] += t * zs_[i];
    }
    for (Index j = 0; j <= p_; ++j) {
      v_[j] = (j < p_ || last_.penalty > 0 ? w_[j] : 0.0) - g_[j];
      v_[j] += t * (g_[j] + (j < p_ ? 1.0 : last_.penalty) * s_[j] + r_[j]);
      w_[j] += t * s_[j];
    }
    return true;
  }

  /// How far along s: 1 where the model foretold well, otherwise near the minimum of P along the ray.
  double ray(const Model& model) {
    const double first = dot(g_, s_);
    double t = 1, low = 0, high = infinity;
    Look at = look(t);
    const double ratio = (value_ - at.value) / std::max(model.decrease, 1e-300);
    progress_ = value_ - at.value;
    if (!(ratio >= 0.25) || (model.cut && ratio > 0.75)) {
      for (int k = 0; k < 30 && (std::abs(at.slope) > 0.1 * std::abs(first) || !(at.value <= value_)); ++k) {
        (at.slope > 0 ? high : low) = t;
        const double newton = t - at.slope / at.curvature;
        const double limit = high < infinity ? high : 10 * t;
        t = newton > low && newton < limit ? newton : high < infinity ? 0.5 * (low + high) : limit;
        at = look(t);
      }
      if (!(at.value <= value_)) at = look(t = 0);  // rounding is all that is left
      progress_ = value_ - at.value;
    }
    if (model.cut && t >= 1)
      delta_ = std::max(delta_, 2 * t * model.length);
    else if (t < 0.5)
      delta_ = std::max(0.1, t) * model.length;
    else if (ratio > 0.75)
      delta_ = std::max(delta_, 2 * model.length);
    value_ = at.value;
    return t;
  }

  /// P − D of the dual point foretold, after pushing it into its bounds (rows that this moves are read).
  double foretold_gap() {
    double dual = 0, sum = 0;
    bool outside = false;
    Values& excess = zs_;  // its memory is free now
    std::visit(
        [&](const auto& loss) {
          for (Index i = 0; i < n_; ++i) {
            const double y = problem_.y[i], c = cost(i), inside = loss.box(y, c).clip(foretold_[i]);
            excess[i] = foretold_[i] - inside;
            sum += excess[i];
            outside = outside || excess[i] != 0;
            foretold_[i] = inside;
            dual += loss.dual(y, c, inside);
          }
        },
        problem_.loss);
    if (outside) {
      Values moved(p_ + 1);
      passes_.combination(excess, Vector(moved).first(p_));
      moved[p_] = last_.column * sum;
      for (Index j = 0; j <= p_; ++j) v_[j] -= moved[j];
    }
    return value_ + 0.5 * penalty(v_, v_) - dual;
  }

  /// Is the judge to be asked now, and what does he say? True: leave.
  bool decide(Answer& answer) {
    if (control_.stopped()) return true;
    const double gap = 0.5 * penalty(g_, g_), size = std::max(std::abs(value_), 1e-300);
    double best = gap;
    use_foretold_ = false;
    if (has_foretold_ && gap > control_.tol * size) {
      const double other = foretold_gap();
      use_foretold_ = other < gap;
      best = std::min(gap, other);
    }
    const bool stuck = moved_ && !(progress_ > 1e-15 * size);
    const bool due = best <= control_.tol * size * strictness_ || stuck;
    if (!due && !control_.watched()) return false;
    fill(answer);
    const auto purpose = due ? Control::Purpose::decide : Control::Purpose::show;
    const bool leave = control_.ask(problem_, "tron", epochs_, static_cast<Index>(zone_.size()), answer.w, answer.b,
                                    answer.beta, purpose);
    answer.judged = leave;
    if (due && !leave) {
      strictness_ *= 0.3;
      if (stuck) control_.stop(Status::stalled);
    }
    return control_.stopped();
  }

  void fill(Answer& answer) {
    answer.w.assign(w_.begin(), w_.end() - 1);
    answer.b = last_.column * w_[p_];
    answer.beta = use_foretold_ ? foretold_ : beta_;
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

  const Problem& problem_;
  const TronOptions& options_;
  Control& control_;
  const Index stride_;  // of a sample: every so many rows, at so many times their cost
  Passes passes_;
  const Implied last_;
  const Index n_, p_;
  std::vector<std::uint32_t> list_, pull_, zone_;     // rows in play; those with β ≠ 0; those with a slope
  Values z_, zs_, beta_, slope_, foretold_, before_;  // rows
  Values w_, g_, s_, r_, m_, v_, d_, hd_;             // features, and the intercept
  double value_ = 0, progress_ = 0, norm_g_ = 0, norm_first_ = 0, delta_ = 0, epochs_ = 0, strictness_ = 1;
  Index iterations_ = 0;
  bool has_foretold_ = false, moved_ = false, use_foretold_ = false;
};

}  // namespace

void tron(const Problem& problem, Answer& answer, const TronOptions& options, Control& control) {
  if (answer.w.empty() && answer.beta.empty())
    for (const Index stride : {16, 4})
      if (problem.n() / stride >= std::max<Index>(1000, 10 * problem.p()))
        TrustRegion(problem, options, control, stride).approach(answer);
  TrustRegion(problem, options, control, 1).run(answer);
}

}  // namespace dualgap
