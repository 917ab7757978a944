#include "solvers/newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dualgap {

NewtonSystem::NewtonSystem(const Problem& problem, Passes& passes, const Blas& blas, double memory, Control& control)
    : problem_(problem),
      passes_(passes),
      blas_(blas),
      control_(control),
      p_(problem.p()),
      ones_(problem.intercept != Intercept::none),
      d_(p_ + (ones_ ? 1 : 0)),
      reg_b_(problem.intercept == Intercept::regularized ? 1 / problem.scale2() : 0.0),
      largest_(static_cast<Index>(std::sqrt(memory / (3 * sizeof(double))))),
      factor_(control.team, blas),
      ridge_(d_, 1.0) {
  if (ones_) ridge_[p_] = reg_b_;
}

void NewtonSystem::find_zone(ConstVector slope) {
  zone_.clear();
  weight_.clear();
  double low = infinity, high = 0;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    if (!(slope[i] > 0)) continue;
    zone_.push_back(static_cast<std::uint32_t>(i));
    weight_.push_back(slope[i]);
    low = std::min(low, slope[i]);
    high = std::max(high, slope[i]);
  }
  uniform_ = low == high;
}

NewtonSystem::Way NewtonSystem::choose() const {
  const Index k = zone_size();
  const bool rows_fit = k <= largest_, columns_fit = d_ <= largest_;
  if (!rows_fit && !columns_fit) return Way::conjugate;
  if (!columns_fit) return Way::woodbury;
  // the kept sum makes d × d cheaper than it looks: only changes are read
  return rows_fit && 2 * k < d_ ? Way::woodbury : Way::gram;
}

bool NewtonSystem::solve(ConstVector slope, ConstVector grad, Vector move, double accuracy) {
  factored_ = false;
  find_zone(slope);
  const Way way = choose();
  exact_ = way != Way::conjugate;
  switch (way) {
    case Way::gram:
      return solve_gram(grad, move);
    case Way::woodbury:
      return solve_woodbury(grad, move);
    case Way::conjugate:
      return solve_conjugate(grad, move, accuracy);
  }
  return false;
}

bool NewtonSystem::rebuild_gram() {
  sum_.assign(static_cast<std::size_t>(d_ * d_), 0.0);
  if (!passes_.gram(zone_, uniform_ ? ConstVector{} : ConstVector(weight_), 1.0, ones_, sum_)) return false;
  work_ += static_cast<double>(zone_size()) / static_cast<double>(problem_.n());
  in_sum_.clear();
  if (!uniform_) return true;
  in_sum_.assign(problem_.n(), 0);
  for (const auto i : zone_) in_sum_[i] = 1;
  sum_size_ = sum_peak_ = zone_size();
  return true;
}

/// Rows that entered the zone are added, those that left taken away, unless starting afresh is cheaper or safer.
bool NewtonSystem::update_gram() {
  if (!uniform_ || in_sum_.empty()) return rebuild_gram();
  std::vector<std::uint32_t> entered, left;
  for (const auto i : zone_) {
    if (in_sum_[i] == 0) entered.push_back(i);
    in_sum_[i] = 2;
  }
  for (std::size_t i = 0; i < in_sum_.size(); ++i) {
    if (in_sum_[i] == 1) left.push_back(static_cast<std::uint32_t>(i));
    in_sum_[i] = in_sum_[i] == 2;
  }
  const Index changes = static_cast<Index>(entered.size() + left.size());
  if (changes > zone_size() / 2 || 4 * zone_size() < sum_peak_) return rebuild_gram();
  sum_size_ = zone_size();
  sum_peak_ = std::max(sum_peak_, sum_size_);
  work_ += static_cast<double>(changes) / static_cast<double>(problem_.n());
  const bool done = passes_.gram(entered, {}, 1.0, ones_, sum_) && passes_.gram(left, {}, -1.0, ones_, sum_);
  if (!done) in_sum_.clear();
  return done;
}

bool NewtonSystem::make_factor() {
  in_factor_ = in_sum_;
  factored_slope_ = slope_;
  return factor_.make(d_, sum_, slope_, ridge_);
}

/// The rows that entered or left since the factor was made, by Woodbury. False: too many, or another slope.
bool NewtonSystem::correct_factor() {
  if (in_sum_.empty() || in_factor_.size() != in_sum_.size() || slope_ != factored_slope_) return false;
  const std::size_t most = static_cast<std::size_t>(d_ / 8);
  std::vector<Factor::Change> changes;
  for (std::size_t i = 0; i < in_sum_.size() && changes.size() <= most; ++i)
    if (in_sum_[i] != in_factor_[i]) changes.push_back({static_cast<std::uint32_t>(i), in_sum_[i] != 0 ? 1.0 : -1.0});
  if (changes.size() > most) return false;
  const double root = std::sqrt(slope_);
  return factor_.correct(changes, [&](std::uint32_t row, double* column) {
    std::visit([&](const auto& rows) { rows.add(row, root, column); }, problem_.rows);
    if (ones_) column[p_] = root;
  });
}

bool NewtonSystem::solve_gram(ConstVector grad, Vector move) {
  if (!update_gram()) return false;
  slope_ = uniform_ ? weight_.empty() ? 0.0 : weight_[0] : 1.0;
  if (!correct_factor() && !make_factor()) return false;
  factored_ = true;
  return solve_again(grad, move);
}

bool NewtonSystem::solve_again(ConstVector grad, Vector move) {
  for (Index j = 0; j < d_; ++j) move[j] = -grad[j];
  factor_.solve(move);
  // one step of refinement on what the scaled factor left
  const int n = static_cast<int>(d_), inc = 1;
  const double minus = -1, slope = -slope_;
  scratch_.assign(grad.begin(), grad.end());
  blas_.dsymv("U", &n, &slope, sum_.data(), &n, move.data(), &inc, &minus, scratch_.data(), &inc);
  for (Index j = 0; j < d_; ++j) scratch_[j] -= ridge_[j] * move[j];
  if (factor_.corrected() && dot(scratch_, scratch_) > 1e-12 * dot(grad, grad))  // rounding: rows that left too much
    return make_factor() && solve_again(grad, move);
  factor_.solve(scratch_);
  for (Index j = 0; j < d_; ++j) move[j] += scratch_[j];
  return true;
}

/// With K = X_Z X_Zᵀ, M = diag(1/slope) + K:  M u = b′·1 − X_Z g,  move_w = −g − X_Zᵀu,  1ᵀu + reg·b′ = −g_b.
bool NewtonSystem::solve_woodbury(ConstVector grad, Vector move) {
  const Index k = zone_size();
  const ConstVector g = grad.first(p_);
  in_sum_.clear();
  sum_.clear();
  in_factor_.clear();
  std::vector<double> matrix(static_cast<std::size_t>(k * k));
  std::vector<double> xg(k), ones(k, 1.0), full(problem_.n());
  if (!passes_.cross(zone_, matrix) || !passes_.scores(zone_, g, 0.0, xg)) return false;
  work_ += static_cast<double>(2 * k) / static_cast<double>(problem_.n());
  std::vector<double> inverse(k);
  for (Index i = 0; i < k; ++i) inverse[i] = 1 / weight_[i];
  double move_b = 0;
  if (k > 0) {
    if (!factor_.make(k, matrix, 1.0, inverse)) return false;
    factor_.solve(xg);
    if (ones_) factor_.solve(ones);
  }
  if (ones_) {
    const double curvature = std::accumulate(ones.begin(), ones.end(), 0.0) + reg_b_;
    move_b = (std::accumulate(xg.begin(), xg.end(), 0.0) - grad[p_]) / (curvature > 0 ? curvature : 1.0);
    move[p_] = move_b;
  }
  for (Index i = 0; i < k; ++i) full[zone_[i]] = xg[i] - (ones_ ? move_b * ones[i] : 0.0);  // −u
  std::vector<double> pull(p_);
  if (!passes_.combination(zone_, full, pull)) return false;
  for (Index j = 0; j < p_; ++j) move[j] = pull[j] - g[j];
  return true;
}

/// out = (reg + Σ slope x̃x̃ᵀ) x
bool NewtonSystem::multiply(ConstVector x, Vector out) {
  std::vector<double> z(zone_.size()), full(problem_.n());
  if (!passes_.scores(zone_, x.first(p_), ones_ ? x[p_] : 0.0, z)) return false;
  double total = 0;
  for (std::size_t k = 0; k < zone_.size(); ++k) total += full[zone_[k]] = weight_[k] * z[k];
  if (!passes_.combination(zone_, full, out.first(p_))) return false;
  for (Index j = 0; j < p_; ++j) out[j] += x[j];
  if (ones_) out[p_] = reg_b_ * x[p_] + total;
  work_ += 2.0 * static_cast<double>(zone_.size()) / static_cast<double>(problem_.n());
  return true;
}

bool NewtonSystem::solve_conjugate(ConstVector grad, Vector move, double accuracy) {
  std::vector<double> diagonal(d_, 1.0), r(d_), s(d_), direction(d_), product(d_);
  std::visit(
      [&](const auto& rows) {
        for (std::size_t k = 0; k < zone_.size(); ++k)
          rows.view(zone_[k], [&](const auto& row) {
            for (Index t = 0; t < row.size; ++t) diagonal[row.column(t)] += weight_[k] * row.value(t) * row.value(t);
          });
      },
      problem_.rows);
  if (ones_) diagonal[p_] = reg_b_ + std::accumulate(weight_.begin(), weight_.end(), 0.0);
  for (double& x : diagonal) x = x > 0 ? x : 1.0;
  std::fill(move.begin(), move.end(), 0.0);
  for (Index j = 0; j < d_; ++j) {
    r[j] = -grad[j];
    direction[j] = s[j] = r[j] / diagonal[j];
  }
  double rs = dot(r, s);
  const double goal = accuracy * accuracy * rs;
  for (Index iteration = 0; iteration < 2 * d_ && rs > goal; ++iteration) {
    if (!multiply(direction, product)) return false;
    const double curvature = dot(direction, product);
    if (!(curvature > 0)) break;
    const double t = rs / curvature;
    for (Index j = 0; j < d_; ++j) {
      move[j] += t * direction[j];
      r[j] -= t * product[j];
      s[j] = r[j] / diagonal[j];
    }
    const double next = dot(r, s);
    for (Index j = 0; j < d_; ++j) direction[j] = s[j] + next / rs * direction[j];
    rs = next;
  }
  return true;
}

}  // namespace dualgap
