#include "judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/blocks.hpp"
#include "base/errors.hpp"
#include "base/sum.hpp"

namespace dualgap {

namespace {

struct Score {
  double z = 0, size = 0;  // xᵀw and Σ|xⱼwⱼ|
};

/// By instructions that every machine has: two entries at a time, four sums each.
template <class Row>
[[gnu::always_inline]] inline Score score_of(const Row row, const double* w) {
  using Pair = double __attribute__((vector_size(16)));
  using Bits = long long __attribute__((vector_size(16)));
  const Bits magnitude = Bits{} + 0x7fffffffffffffff;
  Pair z0 = {}, z1 = {}, size0 = {}, size1 = {};
  Index k = 0;
  for (; k + 4 <= row.size; k += 4) {
    const Pair x0 = {row.value(k), row.value(k + 1)}, w0 = {w[row.column(k)], w[row.column(k + 1)]}, t0 = x0 * w0;
    const Pair x1 = {row.value(k + 2), row.value(k + 3)}, w1 = {w[row.column(k + 2)], w[row.column(k + 3)]},
               t1 = x1 * w1;
    z0 += t0;
    z1 += t1;
    size0 += (Pair)((Bits)t0 & magnitude);
    size1 += (Pair)((Bits)t1 & magnitude);
  }
  const Pair z = z0 + z1, size = size0 + size1;
  Score all{z[0] + z[1], size[0] + size[1]};
  for (; k < row.size; ++k) {
    const double t = row.value(k) * w[row.column(k)];
    all.z += t;
    all.size += std::abs(t);
  }
  return all;
}

template <class Rows>
[[gnu::always_inline]] inline Score score(const Rows& rows, Index i, const double* w) {
  Score result;
  rows.view(i, [&](const auto& row) __attribute__((always_inline)) { result = score_of(row, w); });
  return result;
}

/// Σ v(j)².
template <class Entry>
double squares(Index size, Entry v) {
  constexpr Index many = 64;
  double square[many];
  Sums sum;
  for (Index first = 0; first < size; first += many) {
    const Index count = std::min(many, size - first);
    for (Index k = 0; k < count; ++k) square[k] = v(first + k) * v(first + k);
    sum.add(square, count);
  }
  return sum.value();
}

/// A vector sum with a carry per element, so that adding blocks loses nothing.
class VectorSum {
 public:
  /// Takes the first one as it is.
  void add(std::vector<double>& x) {
    if (total_.empty()) return total_.swap(x);
    carry_.resize(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double t = total_[j] + x[j];
      carry_[j] += std::abs(total_[j]) >= std::abs(x[j]) ? (total_[j] - t) + x[j] : (x[j] - t) + total_[j];
      total_[j] = t;
    }
  }
  /// What the last one's elements had lost.
  void add_rest(const std::vector<double>& x) {
    carry_.resize(total_.size());
    for (std::size_t j = 0; j < x.size(); ++j) carry_[j] += x[j];
  }
  /// The sum, when all are in.
  const std::vector<double>& value() {
    for (std::size_t j = 0; j < carry_.size(); ++j) total_[j] += carry_[j];
    carry_.clear();
    return total_;
  }

 private:
  std::vector<double> total_, carry_;
};

struct Part {
  Sums loss, dual, sum;
  double error = 0;  // a bound, so that its own rounding does not matter
  double size = 0;   // Σ|β|
  double reach = 0;  // a bound on how far v may be off
  std::vector<double> v, rest;
};

/// A sum of products in twice the digits (Ogita, Rump, Oishi 2005): `rest` is what `sum` has lost.
void add_product(double x, double y, double& sum, double& rest) {
  const double p = x * y, t = sum + p, back = t - sum;
  rest += std::fma(x, y, -p) + ((sum - (t - back)) + (p - back));
  sum = t;
}

/// The largest slope of cℓ, c > 0, within the rounding of a score: slopes of a convex loss rise, so one of the two ends
/// has it. A loss whose slopes cost logarithms may know a bound that does not.
template <class Loss>
[[gnu::always_inline]] inline double steepest(const Loss& loss, double y, double c, double z, double blur,
                                              double value) {
  if constexpr (requires { loss.steepest(c, value, blur); }) return loss.steepest(c, value, blur);
  const double left = loss.prox(y, c, 0.0, z - blur, 0.0).beta, right = loss.prox(y, c, 0.0, z + blur, 0.0).beta;
  return std::max(std::abs(left), std::abs(right));
}

/// At least ‖x‖, whatever its squares are.
template <class Rows>
double length_bound(const Rows& rows, Index i) {
  double most = 0;
  rows.view(i, [&](const auto& row) {
    for (Index k = 0; k < row.size; ++k) most = std::max(most, std::abs(row.value(k)));
  });
  return most * std::sqrt(static_cast<double>(rows.entries(i)));
}

/// v ← v + ax; ‖x‖²
template <class Row>
[[gnu::always_inline]] inline double add_row(const Row row, double a, double* v) {
  using Pair = double __attribute__((vector_size(16)));
  Pair square = {};
  Index k = 0;
  for (; k + 2 <= row.size; k += 2) {
    const Pair x = {row.value(k), row.value(k + 1)}, t = a * x;
    square += x * x;
    v[row.column(k)] += t[0];
    v[row.column(k + 1)] += t[1];
  }
  double all = square[0] + square[1];
  if (k < row.size) {
    const double x = row.value(k);
    all += x * x;
    v[row.column(k)] += a * x;
  }
  return all;
}

/// One block: Σ cℓ, Σ −cℓ*, Σβ, v = Σβx, and the error that rounding may have made in them. A few rows at a time, so
/// that what is read, what is computed and what is written do not wait for each other.
template <class Rows, class Loss>
void judge_block(const Problem& problem, const Rows& rows, const Loss& loss, ConstVector w, double b,
                 const Vector* beta, Index begin, Index end, Part& part) {
  constexpr Index few = 32;
  const double lines = static_cast<double>(end - begin + 4);
  double z[few], size[few], value[few], dual[few], squares = 0;  // the last: Σ|β|‖x‖²
  double slips = 0, doubts = 0, sizes = 0;                       // errors of P and of D, Σ|β|
  for (Index first = begin; first < end; first += few) {
    const Index count = std::min(few, end - first);
    for (Index k = 0; k < count; ++k) {
      const Score s = score(rows, first + k, w.data());
      z[k] = s.z + b;
      size[k] = s.size + std::abs(b);
    }
    for (Index k = 0; k < count; ++k) {
      const double y = problem.y[first + k], c = problem.cost(first + k);
      const double sums = static_cast<double>(rows.entries(first + k) / 4 + 6);
      const double blur = unit_roundoff * (sums * size[k] + 2 * std::abs(y));  // of the score, and what is taken of it
      value[k] = c > 0 ? c * loss.value(y, z[k]) + 0.0 * z[k] : 0.0;  // a score beyond numbers has no loss of 0
      if (c > 0) slips += steepest(loss, y, c, z[k], blur, value[k]) * blur + 8 * unit_roundoff * value[k];
    }
    part.loss.add(value, count);
    if (!beta) continue;
    const double* a = beta->data() + first;
    for (Index k = 0; k < count; ++k) {
      const double y = problem.y[first + k];
      dual[k] = loss.dual(y, problem.cost(first + k), a[k]);
      sizes += std::abs(a[k]);
      doubts += a[k] != 0 ? unit_roundoff * std::abs(a[k]) * (lines * size[k] + 4 * std::abs(y)) : 0.0;
    }
    part.dual.add(dual, count);
    part.sum.add(a, count);
    for (Index k = 0; k < count; ++k)
      if (a[k] != 0)
        rows.view(first + k, [&](const auto& row) { squares += std::abs(a[k]) * add_row(row, a[k], part.v.data()); });
  }
  part.error = slips + doubts;
  part.size = sizes;
  double lengths = std::sqrt(part.size) * std::sqrt(squares);  // ≥ Σ|β|‖x‖ (Cauchy, Schwarz)
  if (beta && !(squares > 1e-200 && squares < 1e200)) {        // squares have no room: by the largest entries
    lengths = 0;
    for (Index i = begin; i < end; ++i) lengths += std::abs((*beta)[i]) * length_bound(rows, i);
  }
  part.reach = unit_roundoff * lines * lengths;
}

/// The same with scores and v in twice the digits, for points whose gap is hidden by the rounding otherwise: several
/// times as slow.
template <class Rows, class Loss>
void judge_carefully(const Problem& problem, const Rows& rows, const Loss& loss, ConstVector w, double b, Vector beta,
                     Index begin, Index end, Part& part) {
  const double lines = static_cast<double>(end - begin + 4) * unit_roundoff;
  for (Index i = begin; i < end; ++i) {
    const double y = problem.y[i], c = problem.cost(i), a = beta[i], dual = loss.dual(y, c, a);
    double z = b, rest = 0, size = std::abs(b);
    rows.view(i, [&](const auto& row) {
      for (Index k = 0; k < row.size; ++k) {
        add_product(row.value(k), w[row.column(k)], z, rest);
        size += std::abs(row.value(k) * w[row.column(k)]);
        if (a != 0) add_product(a, row.value(k), part.v[row.column(k)], part.rest[row.column(k)]);
      }
    });
    z += rest;
    const double value = c > 0 ? c * loss.value(y, z) : 0.0, sums = static_cast<double>(rows.entries(i) + 4);
    const double blur = unit_roundoff * (std::abs(z) + 2 * std::abs(y) + sums * sums * unit_roundoff * size);
    part.loss.add(value);
    part.dual.add(dual);
    part.sum.add(a);
    part.size += std::abs(a);
    if (c > 0) part.error += steepest(loss, y, c, z, blur, value) * blur;
    part.error += unit_roundoff * (8 * value + 4 * std::abs(dual));
    if (a != 0) {
      part.error += lines * lines * std::abs(a) * size +
                    4 * unit_roundoff * std::abs(a) * (std::abs(b) + std::abs(y) + std::abs(z));
      part.reach += lines * lines * std::abs(a) * length_bound(rows, i);
    }
  }
}

template <class F>
void visit(const Problem& problem, F f) {
  std::visit([&](const auto& rows, const auto& loss) { f(rows, loss); }, problem.rows, problem.loss);
}

/// Waves of blocks: their parts are added in order, so the bits do not depend on the number of threads.
template <class Rows, class Loss>
Part judge_rows(const Problem& problem, const Rows& rows, const Loss& loss, ConstVector w, double b, const Vector* beta,
                VectorSum* v, Team& team, bool carefully = false) {
  const Blocks blocks(problem.n(), rows.entries(), rows.cols(), Blocks::judge_share);
  const Index each = std::max<Index>(2, 16384 / std::max<Index>(rows.cols(), 1));  // no more than the caches hold
  const Index wave = team.size() == 1 ? 1 : each * team.size();
  std::vector<Part> parts(static_cast<std::size_t>(std::min(wave, blocks.count)));
  Part all;
  for (Index first = 0; first < blocks.count; first += wave) {
    const Index count = std::min(wave, blocks.count - first);
    team.for_each(count, [&](Index k) {
      Part& part = parts[k];
      part.loss = part.dual = part.sum = Sums{};
      part.error = part.size = part.reach = 0;
      if (beta) part.v.assign(rows.cols(), 0.0);
      if (carefully) part.rest.assign(rows.cols(), 0.0);
      const Index begin = blocks.begin(first + k), end = blocks.begin(first + k + 1);
      if (carefully)
        judge_carefully(problem, rows, loss, w, b, *beta, begin, end, part);
      else
        judge_block(problem, rows, loss, w, b, beta, begin, end, part);
    });
    for (Index k = 0; k < count; ++k) {
      all.loss.add(parts[k].loss.value());
      all.dual.add(parts[k].dual.value());
      all.sum.add(parts[k].sum.value());
      all.error += parts[k].error;
      all.size += parts[k].size;
      all.reach += parts[k].reach;
      if (v) v->add(parts[k].v);
      if (v && carefully) v->add_rest(parts[k].rest);
    }
  }
  return all;
}

double penalty(const Problem& problem, ConstVector w, double b) {
  const double half = 0.5 * squares(static_cast<Index>(w.size()), [&](Index j) { return w[j]; }) + problem.total * b;
  return problem.intercept == Intercept::regularized ? half + 0.5 * (b / problem.scale) * (b / problem.scale) : half;
}

/// Every β into its box; how far the one went that went farthest. Most often all are there: that is seen without a
/// branch.
template <class Loss>
double into_boxes(const Problem& problem, const Loss& loss, Vector beta) {
  constexpr Index many = 64;
  double clipped[many];
  Index inside = 0;
  for (Index first = 0; first < problem.n(); first += many) {
    const Index count = std::min(many, problem.n() - first);
    for (Index k = 0; k < count; ++k)
      clipped[k] = loss.box(problem.y[first + k], problem.cost(first + k)).clip(beta[first + k]);
    for (Index k = 0; k < count; ++k) inside += clipped[k] == beta[first + k];
  }
  if (inside == problem.n()) return 0;
  double moved = 0;
  for (Index i = 0; i < problem.n(); ++i) {
    const Interval box = loss.box(problem.y[i], problem.cost(i));
    const double value = std::isnan(beta[i]) ? box.clip(0.0) : box.clip(beta[i]);
    moved = std::max(moved, std::abs(value - beta[i]));
    beta[i] = value;
  }
  return moved;
}

/// Σ clip(βᵢ − t) over the boxes, less t₀: falls monotonically in t.
template <class Loss>
double shifted_sum(const Problem& problem, const Loss& loss, ConstVector beta, double t) {
  Sum s;
  for (Index i = 0; i < problem.n(); ++i) s.add(loss.box(problem.y[i], problem.cost(i)).clip(beta[i] - t));
  s.add(-problem.total);
  return s.value();
}

/// What rounding left of the sum goes to rows with room for it, those inside their box first, so that the constraint
/// holds to the last bits and rows at zero stay there.
template <class Loss>
void settle(const Problem& problem, const Loss& loss, Vector beta) {
  for (int round = 0; round < 4; ++round) {
    Sum rest;
    rest.add(-problem.total);
    for (double b : beta) rest.add(b);
    double left = rest.value();
    if (left == 0) return;
    for (Index i = 0; i < problem.n() && left != 0; ++i) {
      const Interval box = loss.box(problem.y[i], problem.cost(i));
      if (round < 2 && (beta[i] <= box.low || beta[i] >= box.high || beta[i] == 0)) continue;
      const double moved = box.clip(beta[i] - left);
      left -= beta[i] - moved;
      beta[i] = moved;
    }
  }
}

/// The Euclidean projection of β onto {box, Σβ = t₀}: one monotone root, by bracketing and safeguarded secant steps.
template <class Loss>
void onto_total(const Problem& problem, const Loss& loss, Vector beta) {
  const Index n = problem.n();
  double size = 0;
  for (double b : beta) size += std::abs(b);
  const auto sum = [&](double t) { return shifted_sum(problem, loss, beta, t); };
  double at_zero = sum(0.0), low = 0, high = 0, f_low = at_zero, f_high = at_zero;
  if (std::abs(at_zero) <= 64 * unit_roundoff * size) return settle(problem, loss, beta);  // rounding, no more
  double reach = std::max(std::abs(at_zero) / static_cast<double>(n), 1e-300);
  for (int k = 0; k < 2100 && at_zero > 0 && f_high > 0; ++k, reach *= 2)
    low = high, f_low = f_high, f_high = sum(high = reach);
  for (int k = 0; k < 2100 && at_zero < 0 && f_low < 0; ++k, reach *= 2)
    high = low, f_high = f_low, f_low = sum(low = -reach);
  double t = 0.5 * (low + high);
  for (int k = 0; k < 200 && high - low > unit_roundoff * (std::abs(low) + std::abs(high)); ++k) {
    const double secant = low + (high - low) * (f_low / (f_low - f_high));
    t = k % 3 != 2 && secant > low && secant < high ? secant : 0.5 * (low + high);
    if (t <= low || t >= high) break;
    const double f = sum(t);
    if (f == 0) break;
    (f > 0 ? low : high) = t;
    (f > 0 ? f_low : f_high) = f;
  }
  for (Index i = 0; i < n; ++i) beta[i] = loss.box(problem.y[i], problem.cost(i)).clip(beta[i] - t);
  settle(problem, loss, beta);
}

}  // namespace

double make_feasible(const Problem& problem, Vector beta) {
  return std::visit(
      [&](const auto& loss) {
        double moved = into_boxes(problem, loss, beta);
        if (problem.intercept != Intercept::free) return moved;
        const std::vector<double> before(beta.begin(), beta.end());
        onto_total(problem, loss, beta);
        for (Index i = 0; i < problem.n(); ++i) moved = std::max(moved, std::abs(beta[i] - before[i]));
        return moved;
      },
      problem.loss);
}

double relative_gap(double primal, double dual, double rounding, double floor, bool zero) {
  const double gap = primal - dual, size = std::max({std::abs(primal), std::abs(dual), floor});
  if (!std::isfinite(gap)) return infinity;
  if (gap <= rounding && (zero || rounding <= 1e-6 * size)) return 0;
  return size > 0 ? std::max(gap, rounding) / size : infinity;
}

/// Rows and vectors that fit together, whoever made them.
static void check_sizes(const Problem& problem, ConstVector w, std::size_t rows) {
  if (static_cast<Index>(w.size()) == problem.p() && static_cast<Index>(rows) == problem.n()) return;
  throw InvalidData("A point of " + std::to_string(w.size()) + " coefficients and " + std::to_string(rows) +
                    " dual variables does not belong to " + std::to_string(problem.n()) + " rows of " +
                    std::to_string(problem.p()) + " columns.");
}

/// Both objectives at a feasible β, and the bound on their rounding.
static Certificate objectives(const Problem& problem, ConstVector w, double b, Vector beta, Team& team,
                              bool carefully) {
  Certificate c{};
  visit(problem, [&](const auto& rows, const auto& loss) {
    VectorSum sum;
    const Part all = judge_rows(problem, rows, loss, w, b, &beta, &sum, team, carefully);
    const std::vector<double>& v = sum.value();
    const double total = all.sum.value(), size = penalty(problem, w, b);
    const double square = squares(problem.p(), [&](Index j) { return v[j]; });
    const double distance = std::sqrt(squares(problem.p(), [&](Index j) { return v[j] - w[j]; }));
    c.primal = size + all.loss.value();
    c.dual = -0.5 * square - 0.5 * problem.scale2() * total * total + all.dual.value();
    const double doubt = unit_roundoff * all.size;  // of the total
    // ½‖v‖²: an error e of v counts |v|ᵀe ≤ |w|ᵀe, which is in all.error, and ‖v − w‖‖e‖ + ½‖e‖²
    const double off = all.reach * (distance + 0.5 * all.reach);
    c.rounding = all.error + off + problem.scale2() * doubt * (std::abs(total) + doubt) +
                 4 * unit_roundoff * (std::abs(c.primal) + std::abs(c.dual) + std::abs(size) + square);
  });
  if (std::isnan(c.primal)) c.primal = infinity;
  if (std::isnan(c.dual)) c.dual = -infinity;
  if (std::isnan(c.rounding)) c.rounding = infinity;
  const double alone = problem.intercept == Intercept::free ? b : 0.0;
  const bool zero = c.primal - c.dual <= c.rounding && is_zero(problem, alone, c.rounding, problem.floor);
  c.relative_gap = relative_gap(c.primal, c.dual, c.rounding, problem.floor, zero);
  return c;
}

Certificate judge(const Problem& problem, ConstVector w, double b, Vector beta, Team& team) {
  check_sizes(problem, w, beta.size());
  const double moved = make_feasible(problem, beta);
  Certificate c = objectives(problem, w, b, beta, team, false);
  const bool hidden = c.primal - c.dual <= c.rounding && std::isfinite(c.primal) && std::isfinite(c.dual);
  if (hidden && c.relative_gap > 0) c = objectives(problem, w, b, beta, team, true);
  c.moved = moved;
  c.primal *= problem.unit;
  c.dual *= problem.unit;
  c.rounding *= problem.unit;
  c.gap = c.primal - c.dual;
  return c;
}

double primal_objective(const Problem& problem, ConstVector w, double b, Team& team) {
  double result = 0;
  visit(problem, [&](const auto& rows, const auto& loss) {
    result = penalty(problem, w, b) + judge_rows(problem, rows, loss, w, b, nullptr, nullptr, team).loss.value();
  });
  return problem.unit * result;
}

void implied_dual(const Problem& problem, ConstVector w, double b, Vector beta, Team& team) {
  visit(problem, [&](const auto& rows, const auto& loss) {
    const Blocks blocks(problem.n(), rows.entries(), rows.cols(), Blocks::judge_share);
    team.for_each(blocks.count, [&](Index k) {
      for (Index i = blocks.begin(k); i < blocks.begin(k + 1); ++i)
        beta[i] = loss.prox(problem.y[i], problem.cost(i), beta[i], score(rows, i, w.data()).z + b, 0.0).beta;
    });
  });
}

}  // namespace dualgap
