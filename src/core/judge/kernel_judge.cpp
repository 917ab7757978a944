#include "judge/kernel_judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sum.hpp"

namespace dualgap {

namespace {

using Task = KernelProblem::Task;

/// The t that minimises −total·t + Σ cᵢ max(0, t − xᵢ): where the costs of the smaller x reach the total.
double quantile(const std::vector<std::pair<double, double>>& sorted, double total) {
  double below = 0;
  for (const auto& [x, c] : sorted)
    if ((below += c) >= total * (1 - 1e-12)) return x;
  return sorted.empty() ? 0 : sorted.back().first;
}

/// Pairs (value, cost) of the rows that `value` accepts, by value.
template <class Value>
std::vector<std::pair<double, double>> sorted_by(const KernelProblem& problem, Value value) {
  std::vector<std::pair<double, double>> pairs;
  pairs.reserve(problem.n());
  for (Index i = 0; i < problem.n(); ++i)
    if (const auto x = value(i); !std::isnan(x) && problem.cost(i) > 0) pairs.emplace_back(x, problem.cost(i));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// −total·t + Σ c max(0, t − x).
double threshold_loss(const std::vector<std::pair<double, double>>& pairs, double total, double t) {
  Sum s;
  s.add(-total * t);
  for (const auto& [x, c] : pairs) s.add(c * std::max(0.0, t - x));
  return s.value();
}

/// Puts the rows of [begin, end) into [0, c]·sign and their sum to `total`·sign; the largest change.
template <class Part>
double onto_total(const KernelProblem& problem, Vector beta, double total, Part part) {
  double moved = 0;
  Sum sum;
  for (Index i = 0; i < problem.n(); ++i) {
    const double sign = part(i);
    if (sign == 0) continue;
    const double a = std::isnan(beta[i]) ? 0.0 : std::clamp(sign * beta[i], 0.0, problem.cost(i));
    moved = std::max(moved, std::abs(sign * a - beta[i]));
    beta[i] = sign * a;
    sum.add(a);
  }
  double rest = total - sum.value();
  for (Index i = 0; i < problem.n() && rest != 0; ++i) {
    const double sign = part(i);
    if (sign == 0) continue;
    const double a = sign * beta[i], to = std::clamp(a + rest, 0.0, problem.cost(i));
    moved = std::max(moved, std::abs(to - a));
    rest -= to - a;
    beta[i] = sign * to;
  }
  return moved;
}

double feasible(const KernelProblem& problem, Vector beta) {
  const auto all = [](Index) { return 1.0; };
  switch (problem.task) {
    case Task::loss:
      return make_feasible(problem.flat(), beta);
    case Task::one_class:
    case Task::svdd:
      return onto_total(problem, beta, problem.total, all);
    case Task::nu_svc:
      return std::max(
          onto_total(problem, beta, problem.total / 2, [&](Index i) { return problem.y[i] > 0 ? 1.0 : 0.0; }),
          onto_total(problem, beta, problem.total / 2, [&](Index i) { return problem.y[i] < 0 ? -1.0 : 0.0; }));
    case Task::nu_svr:
      break;
  }
  // positive and negative parts: a row keeps its sign; smaller sums than the total are feasible too, but they must
  // agree
  const std::vector<double> before(beta.begin(), beta.end());
  Sum up, down;
  for (Index i = 0; i < problem.n(); ++i) {
    beta[i] = std::isnan(beta[i]) ? 0.0 : std::clamp(beta[i], -problem.cost(i), problem.cost(i));
    (beta[i] > 0 ? up : down).add(std::abs(beta[i]));
  }
  const double goal = std::min({up.value(), down.value(), problem.total / 2});
  double moved = 0;
  for (Index i = 0; i < problem.n(); ++i) {
    const double part = beta[i] > 0 ? up.value() : down.value();
    if (part > goal) beta[i] *= goal / part;
    moved = std::max(moved, std::abs(beta[i] - before[i]));
  }
  return moved;
}

struct Sides {
  double primal, dual, steepest;
};

Sides loss_sides(const KernelProblem& problem, ConstVector z, ConstVector beta, double q, double b) {
  return std::visit(
      [&](const auto& loss) {
        Sum primal, dual;
        primal.add(0.5 * q);
        dual.add(-0.5 * q);
        double steepest = 0;
        for (Index i = 0; i < problem.n(); ++i) {
          const double y = problem.y[i], c = problem.cost(i);
          if (c > 0) primal.add(c * loss.value(y, z[i] + b));
          if (c > 0) steepest += std::abs(loss.prox(y, c, beta[i], z[i] + b, 0.0).beta);
          dual.add(loss.dual(y, c, beta[i]));
        }
        return Sides{primal.value(), dual.value(), steepest};
      },
      problem.loss);
}

/// ‖x‖² by plain instructions, four sums.
template <class Row>
double square_of(const Row& row) {
  double sum[4] = {};
  Index k = 0;
  for (; k + 4 <= row.size; k += 4)
    for (int lane = 0; lane < 4; ++lane) sum[lane] += row.value(k + lane) * row.value(k + lane);
  for (; k < row.size; ++k) sum[0] += row.value(k) * row.value(k);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// k(x, x) for every row.
std::vector<double> own_values(const KernelProblem& problem) {
  std::vector<double> own(problem.n());
  std::visit(
      [&](const auto& rows) {
        const bool given = problem.kernel.shape == Kernel::Shape::precomputed;
        for (Index i = 0; i < problem.n(); ++i)
          rows.view(problem.ids[i], [&](const auto& row) {
            if (!given) own[i] = problem.kernel.of_itself(square_of(row));
            for (Index e = 0; e < row.size && given; ++e)
              if (row.column(e) == static_cast<Index>(problem.ids[i])) own[i] = row.value(e);
          });
      },
      problem.rows);
  return own;
}

/// Primal and dual of the tasks that choose their thresholds; both thresholds at their best.
Sides task_sides(const KernelProblem& problem, ConstVector z, ConstVector beta, double q,
                 const std::vector<double>& own, Thresholds& best) {
  constexpr double no = std::numeric_limits<double>::quiet_NaN();
  const ConstVector y = problem.y;
  const double half = problem.total / 2;
  double costs = 0;
  for (Index i = 0; i < problem.n(); ++i) costs += problem.cost(i);
  if (problem.task == Task::one_class) {
    const auto pairs = sorted_by(problem, [&](Index i) { return z[i]; });
    best.first = quantile(pairs, problem.total);
    return {0.5 * q + threshold_loss(pairs, problem.total, best.first), -0.5 * q, costs};
  }
  if (problem.task == Task::svdd) {
    const auto pairs = sorted_by(problem, [&](Index i) { return -(own[i] - 2 * z[i] + q); });
    best.first = std::max(0.0, -quantile(pairs, problem.total));
    Sum dual;
    dual.add(-q);
    for (Index i = 0; i < problem.n(); ++i) dual.add(beta[i] * own[i]);
    return {threshold_loss(pairs, problem.total, -best.first), dual.value(), costs};
  }
  const bool classes = problem.task == Task::nu_svc;
  const auto above = sorted_by(problem, [&](Index i) { return !classes ? z[i] - y[i] : y[i] > 0 ? z[i] : no; });
  const auto below = sorted_by(problem, [&](Index i) { return !classes ? y[i] - z[i] : y[i] < 0 ? -z[i] : no; });
  // a class whose whole mass is asked for has every threshold beyond its rows as an optimum: one well beyond
  const auto threshold = [&](const auto& pairs) {
    double mass = 0;
    for (const auto& pair : pairs) mass += pair.second;
    if (!classes || half < mass * (1 - 1e-9) || pairs.empty()) return quantile(pairs, half);
    return 2 * pairs.back().first - pairs.front().first;
  };
  const double s = threshold(above), t = threshold(below);
  const double primal = 0.5 * q + threshold_loss(above, half, s) + threshold_loss(below, half, t);
  best.first = (t - s) / 2;
  best.second = classes ? (s + t) / 2 : -(s + t) / 2;
  Sum dual;
  dual.add(-0.5 * q);
  if (!classes)
    for (Index i = 0; i < problem.n(); ++i) dual.add(beta[i] * y[i]);
  return {primal, dual.value(), costs};
}

/// −dP/db as a function of b: Σ of the rows' β at z + b, each falling in b.
template <class Loss>
class Slope {
 public:
  Slope(const KernelProblem& problem, const Loss& loss, ConstVector z, ConstVector beta)
      : problem_(problem), loss_(loss), z_(z), beta_(beta) {
    for (Index i = 0; i < problem.n(); ++i)
      if (problem.cost(i) > 0) all_.push_back(static_cast<std::uint32_t>(i));
  }

  double at(double b) const { return sum(all_, 0.0, b); }

  /// The b where `before(slope)` ends, by bisection. A row whose β is the same at both ends of the bracket is the same
  /// between them: it is counted once, so that all the halvings together cost a few passes.
  template <class Before>
  double end(Before before) const {
    double low = 0, high = 0, size = 1;
    if (before(at(0.0)))
      for (int k = 0; k < 100 && before(at(high = size)); ++k) low = high, size *= 4;
    else
      for (int k = 0; k < 100 && !before(at(low = -size)); ++k) high = low, size *= 4;
    std::vector<std::uint32_t> open = all_;
    Sum settled;
    for (int k = 0; k < 100 && high - low > 4 * unit_roundoff * (std::abs(low) + std::abs(high)); ++k) {
      std::erase_if(open, [&](std::uint32_t i) {
        const double here = row(i, low);
        if (here != row(i, high)) return false;
        settled.add(here);
        return true;
      });
      const double middle = 0.5 * (low + high);
      (before(sum(open, settled.value(), middle)) ? low : high) = middle;
    }
    return high;
  }

 private:
  double row(std::uint32_t i, double b) const {
    return loss_.prox(problem_.y[i], problem_.cost(i), beta_[i], z_[i] + b, 0.0).beta;
  }
  double sum(const std::vector<std::uint32_t>& rows, double start, double b) const {
    Sum s;
    s.add(start);
    for (const std::uint32_t i : rows) s.add(row(i, b));
    return s.value();
  }

  const KernelProblem& problem_;
  const Loss& loss_;
  ConstVector z_, beta_;
  std::vector<std::uint32_t> all_;
};

}  // namespace

double best_intercept(const KernelProblem& problem, ConstVector z, ConstVector beta) {
  return std::visit(
      [&](const auto& loss) {
        const Slope<std::decay_t<decltype(loss)>> slope(problem, loss, z, beta);
        // the optimal b are an interval, often a point: both its ends, then the middle
        const auto finite = [](double b) { return std::abs(b) < 1e50; };  // a side without rows has no end
        const double left = slope.end([](double p) { return p > 0; });
        if (finite(left) && slope.at(left) != 0) return left;
        const double right = slope.end([](double p) { return p >= 0; });
        if (finite(left)) return finite(right) ? 0.5 * (left + right) : left;
        return finite(right) ? right - 4 * unit_roundoff * std::abs(right) : 0.0;
      },
      problem.loss);
}

KernelVerdict judge(const KernelProblem& problem, Vector beta, Team& team, Patience patience, const double* b) {
  KernelVerdict verdict;
  Certificate& c = verdict.certificate;
  c.moved = feasible(problem, beta);
  const Index n = problem.n();
  Places support;
  std::vector<double> coef;
  for (Index i = 0; i < n; ++i)
    if (beta[i] != 0) support.push_back(problem.ids[i]), coef.push_back(beta[i]);
  const Index s = static_cast<Index>(support.size());
  for (Index k = 0; k < s; ++k) coef.push_back(std::abs(coef[k]));
  const std::pair<Index, Index> whole{0, s};
  std::vector<double> out(2 * n);
  if (!kernel_scores(problem.kernel, problem.rows, problem.ids, problem.rows, support, {coef.data(), 2, {&whole, 1}},
                     out.data(), team, patience)) {
    c.primal = c.gap = c.relative_gap = infinity;
    c.dual = -infinity;
    return verdict;
  }
  verdict.z.assign(out.begin(), out.begin() + n);
  Sum quadratic;
  for (Index i = 0; i < n; ++i) quadratic.add(beta[i] * verdict.z[i]);
  const double q = verdict.square = quadratic.value();
  Sides sides{};
  if (problem.task == Task::loss) {
    verdict.thresholds.first = b ? *b : best_intercept(problem, verdict.z, beta);
    sides = loss_sides(problem, verdict.z, beta, q, verdict.thresholds.first);
  } else {
    sides = task_sides(problem, verdict.z, beta, q, own_values(problem), verdict.thresholds);
  }
  double largest = 0, sizes = 0;     // of Σ|βⱼ|k(xᵢ, xⱼ): what the rounding of z is a small part of
  double farthest = 0, targets = 0;  // of |yᵢ|, where it is taken from a score
  const bool subtracted = problem.task == Task::loss || problem.task == Task::nu_svr;
  for (Index i = 0; i < n; ++i) {
    const double size = std::abs(out[n + i]), target = subtracted ? std::abs(problem.y[i]) : 0.0;
    largest = std::max(largest, size);
    sizes += std::abs(beta[i]) * size;
    farthest = std::max(farthest, target);
    targets += std::abs(beta[i]) * target;
  }
  const double terms = static_cast<double>(count_cols(problem.rows)) + static_cast<double>(s) / 512 + 40;
  c.primal = sides.primal;
  c.dual = sides.dual;
  if (std::isnan(c.primal)) c.primal = infinity;
  if (std::isnan(c.dual)) c.dual = -infinity;
  c.rounding =
      unit_roundoff * (terms * (sizes + largest * sides.steepest * 1e-1) + 4 * (targets + farthest * sides.steepest) +
                       8 * (std::abs(c.primal) + std::abs(c.dual)));
  c.gap = c.primal - c.dual;
  const bool zero = c.gap <= c.rounding &&
                    (problem.task == Task::loss ? is_zero(problem, verdict.thresholds.first, c.rounding, 0.0)
                                                : std::max(std::abs(c.primal), std::abs(c.dual)) <= c.rounding);
  c.relative_gap = relative_gap(c.primal, c.dual, c.rounding, 0.0, zero);
  const bool indefinite = q < -c.rounding || c.gap < -8 * c.rounding - 1e-9 * std::abs(c.primal);
  if (indefinite) c.relative_gap = infinity;  // K is not positive semidefinite: there is no duality to speak of
  return verdict;
}

}  // namespace dualgap
