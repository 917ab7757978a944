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
// sorted (pair_descent.cpp). The start is feasible: the rows that a mean of rows scores lowest are put at the
// bound, since the rows at the bound are the outliers in the end.
//
// Cost of an epoch and memory as pair-dcd.
#include "solvers/oneclass_dcd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace dualgap {

namespace {

/// β = c for the rows of lowest xᵀmean until the sum is 1, the last of them with what is left.
template <class Rows>
std::vector<double> outliers_first(const Rows& rows, double c, Control& control) {
  const Index n = rows.rows();
  std::vector<double> mean(rows.cols()), score(n), beta(n);
  const Index every = std::max<Index>(1, n / 1000);  // a thousand rows tell where the mean points
  for (Index i = 0; i < n && !control.tick(rows.entries(i)); i += every) rows.add(i, 1.0, mean.data());
  for (Index i = 0; i < n && !control.tick(rows.entries(i)); ++i) score[i] = rows.dot(i, mean.data());
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const Index full = std::min(n, static_cast<Index>(1 / c));
  const auto lower = [&](std::uint32_t i, std::uint32_t j) {
    return score[i] != score[j] ? score[i] < score[j] : i < j;
  };
  if (full < n) std::nth_element(order.begin(), order.begin() + full, order.end(), lower);
  for (Index k = 0; k < full; ++k) beta[order[k]] = c;
  if (full < n) beta[order[full]] = std::max(0.0, 1 - static_cast<double>(full) * c);
  return beta;
}

}  // namespace

void oneclass_dcd(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control) {
  if (answer.beta.empty())
    answer.beta =
        std::visit([&](const auto& rows) { return outliers_first(rows, problem.cost(0), control); }, problem.rows);
  descend_pairs(problem, answer, options, control);
}

}  // namespace dualgap
