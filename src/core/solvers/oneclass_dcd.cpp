// oneclass-dcd: the plane that has most of the rows on its far side from the origin.
//
//   min over w, ρ of  ½‖w‖² − ρ + (1/νn) Σ max(0, ρ − xᵢᵀw)
//   max over α of    −½‖w‖²,   w = Σ αᵢxᵢ,   0 ≤ αᵢ ≤ 1/(νn),   Σα = 1
//
//   for pairs (i, j):  d ← clip((xⱼᵀw − xᵢᵀw) / ‖xᵢ − xⱼ‖²),   αᵢ ← αᵢ + d,   αⱼ ← αⱼ − d,   w ← w + d(xᵢ − xⱼ)
//
// In the house's words: pinball loss with quantile 1 and targets 0, cᵢ = 1/(νn), b = −ρ, and Σβ = 1 in place of 0,
// which puts +b into the primal. So the loop is pair_descent.cpp's and the judge is the one judge.
//
// Source: 000 §IX; Chou, Lin, Lin, SDM 2020 (greedy first row, random partner). What differs: partners are met, not
// sorted (pair_descent.cpp). The start is feasible: the rows that a mean of rows scores lowest share Σα = 1, since
// outliers carry it in the end; and where these are few the first epochs look at the lower ranks only.
//
// Cost of an epoch and memory as pair-dcd.
#include "solvers/oneclass_dcd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "simd/dot.hpp"

namespace dualgap {

namespace {

/// Rows by their score under a mean of rows, lowest first up to any place asked for.
template <class Rows>
class Ranked {
 public:
  /// `mean` is room of p zeros, and is left so.
  Ranked(const Rows& rows, std::vector<double>& mean, Control& control) : score_(rows.rows()), order_(rows.rows()) {
    const Index n = rows.rows(), every = std::max<Index>(1, n / 250);  // 250 rows tell where the mean points
    for (Index i = 0; i < n && !control.tick(rows.entries(i)); i += every) rows.add(i, 1.0, mean.data());
    for (Index i = 0; i < n && !control.tick(rows.entries(i)); ++i) score_[i] = rows.dot(i, mean.data());
    std::iota(order_.begin(), order_.end(), 0u);
    std::fill(mean.begin(), mean.end(), 0.0);
  }
  /// Rows of which the first `count` are the lowest; those asked for before come first.
  const std::vector<std::uint32_t>& lowest(Index count) {
    const auto lower = [&](std::uint32_t i, std::uint32_t j) {
      return score_[i] != score_[j] ? score_[i] < score_[j] : i < j;
    };
    if (count > known_ && count < static_cast<Index>(order_.size()))
      std::nth_element(order_.begin() + known_, order_.begin() + count, order_.end(), lower);
    known_ = std::max(known_, count);
    return order_;
  }

 private:
  std::vector<double> score_;
  std::vector<std::uint32_t> order_;
  Index known_ = 0;
};

/// β alike over the lowest rows: as many as the bound asks for, or twice, four times, ... as many while ‖w‖ falls by
/// it. The optimum has at most p + 1 rows between the bounds. Returns the rows to begin with, where not all.
template <class Rows>
std::vector<std::uint32_t> begin(const Rows& rows, double c, Answer& answer, Control& control) {
  const Index n = rows.rows(), full = std::min(n, static_cast<Index>(1 / c));
  std::vector<double> sum(rows.cols());
  Ranked<Rows> ranked(rows, sum, control);
  Index best = 0, added = 0;
  double least = infinity;
  for (Index m = std::max<Index>(full, 1); m <= n; m = m < n ? std::min(2 * m, n) : n + 1) {
    if (best > 0 && m > full + rows.cols() + 1) break;
    const auto& lowest = ranked.lowest(m);
    for (; added < m && !control.tick(rows.entries(lowest[added])); ++added) rows.add(lowest[added], 1.0, sum.data());
    const double size = static_cast<double>(m);
    const double norm = squared(sum) / (size * size);
    if (!(norm < least)) break;
    best = m;
    least = norm;
  }
  answer.beta.assign(n, 0.0);
  const auto& lowest = ranked.lowest(best);
  const double share = best > full ? 1 / static_cast<double>(best) : c;
  for (Index k = 0; k < best; ++k) answer.beta[lowest[k]] = share;
  const double rest = best == full && full < n ? std::max(0.0, 1 - static_cast<double>(full) * c) : 0.0;
  if (rest > 0) answer.beta[lowest[full]] = rest;
  if (added == best) {  // then the sum is that of β, and need not be taken again
    for (double& s : sum) s *= share;
    if (rest > 0) rows.add(lowest[full], rest, sum.data());
    answer.w = std::move(sum);
  }
  answer.b = -least;  // ρ is ‖w‖² where no row is outside
  const Index likely = std::max(4 * best, n / 4);
  if (likely > n / 2) return {};
  const auto& first = ranked.lowest(likely);
  return {first.begin(), first.begin() + likely};
}

}  // namespace

void oneclass_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control) {
  PairDescentOptions mine = options;
  if (answer.beta.empty())
    mine.first =
        std::visit([&](const auto& rows) { return begin(rows, problem.cost(0), answer, control); }, problem.rows);
  descend_pairs(problem, answer, mine, control);
}

}  // namespace dualgap
