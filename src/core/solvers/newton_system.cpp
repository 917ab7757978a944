#include "solvers/newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/pick.hpp"

namespace dualgap {

namespace {

Index largest_side(double memory) {  // at least one, whatever is asked for
  constexpr double entry = 3 * sizeof(double);
  return static_cast<Index>(std::sqrt(std::max(entry, std::min(memory, 1e18)) / entry));
}

Index side(const Problem& problem) { return problem.p() + (problem.intercept != Intercept::none ? 1 : 0); }

}  // namespace

bool NewtonSystem::is_wide(const Problem& problem, double memory) {
  const Index d = side(problem);
  const bool thin = 8 * count_entries(problem.rows) < problem.n() * d;
  return d > largest_side(memory) || (thin && d > strong);
}

double NewtonSystem::matrices(const Problem& problem) {
  const double d = static_cast<double>(side(problem));
  return 8.0 * d * d * (d <= Passes::small ? 2 + Passes::most_matrices : 3);
}

NewtonSystem::NewtonSystem(const Problem& problem, Passes& passes, const Blas& blas, double memory, Control& control)
    : problem_(problem),
      passes_(passes),
      blas_(blas),
      control_(control),
      p_(problem.p()),
      ones_(problem.intercept != Intercept::none),
      d_(side(problem)),
      reg_b_(problem.intercept == Intercept::regularized ? 1 / problem.scale2() : 0.0),
      room_(memory - 16.0 * static_cast<double>(d_) * static_cast<double>(d_)),
      largest_(largest_side(memory)),
      wide_(is_wide(problem, memory)),
      factor_(control.team, blas),
      ridge_(d_, 1.0) {
  if (ones_) ridge_[p_] = reg_b_;
}

void NewtonSystem::find_zone(ConstVector slope) {
  const Blocks blocks(static_cast<Index>(slope.size()), Blocks::light);
  std::vector<double> low(static_cast<std::size_t>(blocks.count), infinity), high(low.size());
  zone_ = pick(control_.team, blocks, [&](Index k, auto take) {
    double least = infinity, most = 0;
    for (Index i = blocks.begin(k); i < blocks.end(k); ++i) {
      const bool inside = slope[i] > 0;
      take(i, inside);
      least = std::min(least, inside ? slope[i] : infinity);
      most = std::max(most, slope[i]);
    }
    low[k] = least;
    high[k] = most;
  });
  uniform_ = std::ranges::min(low) == std::ranges::max(high);
  weight_.resize(zone_.size());
  const Blocks places(zone_size(), Blocks::light);
  control_.team.for_each(places.count, [&](Index k) {
    for (Index i = places.begin(k); i < places.end(k); ++i) weight_[i] = slope[zone_[i]];
  });
}

bool NewtonSystem::solve(ConstVector slope, ConstVector grad, Vector move, double accuracy, Aim aim) {
  factored_ = strained_ = false;
  find_zone(slope);
  if (wide()) return solve_wide(slope, grad, move, accuracy, aim);
  exact_ = true;
  // the kept sum makes d × d cheaper than it looks: only changes are read
  return 2 * zone_size() < d_ ? solve_woodbury(grad, move) : solve_gram(grad, move);
}

/// Conjugate gradients for about half the time that a factor over the zone's rows takes. Then the factor, or where the
/// zone is large one over its strongest rows as a preconditioner.
bool NewtonSystem::solve_wide(ConstVector slope, ConstVector grad, Vector move, double accuracy, Aim aim) {
  const Index k = zone_size();
  if (aim == Aim::provingly) aim = k <= few ? Aim::exactly : Aim::roughly;
  exact_ = false;
  if (k > (aim == Aim::exactly ? few : 0) && k > hopeless_) {
    std::vector<double> inverse(d_);
    if (!hessian_diagonal(slope, inverse)) return false;
    for (double& entry : inverse) entry = 1 / entry;
    const auto divide = [&](ConstVector r, Vector s) {
      for (Index j = 0; j < d_; ++j) s[j] = r[j] * inverse[j];
      return true;
    };
    const Outcome outcome =
        conjugate_gradients(grad, move, accuracy, std::max<Index>(std::min(k, strong) / 24, 16), divide);
    if (outcome != Outcome::unfinished) return outcome == Outcome::solved;
    strained_ = true;
    if (aim == Aim::roughly) return true;
    hopeless_ = k;
  }
  const Index most = std::min(strong, largest_);
  exact_ = k <= most;
  return exact_ ? solve_woodbury(grad, move) : solve_by_strongest(grad, move, accuracy, most);
}

bool NewtonSystem::rebuild_gram() {
  sum_.assign(static_cast<std::size_t>(d_ * d_), 0.0);
  if (!passes_.gram(zone_, uniform_ ? ConstVector{} : ConstVector(weight_), 1.0, ones_, room_, sum_)) return false;
  work_ += static_cast<double>(zone_size()) / static_cast<double>(problem_.n());
  in_sum_.clear();
  if (!uniform_) return true;
  in_sum_.assign(problem_.n(), 0);
  mark_zone(1);
  sum_size_ = sum_peak_ = zone_size();
  return true;
}

void NewtonSystem::mark_zone(char mark) {
  const Blocks places(zone_size(), Blocks::light);
  control_.team.for_each(places.count, [&](Index k) {
    for (Index i = places.begin(k); i < places.end(k); ++i) in_sum_[zone_[i]] |= mark;
  });
}

/// Rows that entered the zone are added, those that left taken away, unless starting afresh is cheaper or safer.
bool NewtonSystem::update_gram() {
  if (!uniform_ || in_sum_.empty()) return rebuild_gram();
  mark_zone(2);
  const Blocks blocks(problem_.n(), Blocks::light);
  const auto marked = [&](int mark) {
    return pick(control_.team, blocks, [&](Index k, auto take) {
      for (Index i = blocks.begin(k); i < blocks.end(k); ++i) take(i, in_sum_[i] == mark);
    });
  };
  const RowNumbers entered = marked(2), left = marked(1);
  control_.team.for_each(blocks.count, [&](Index k) {
    for (Index i = blocks.begin(k); i < blocks.end(k); ++i) in_sum_[i] >>= 1;
  });
  const Index changes = static_cast<Index>(entered.size() + left.size());
  if (changes > zone_size() / 2 || 4 * zone_size() < sum_peak_) return rebuild_gram();
  sum_size_ = zone_size();
  sum_peak_ = std::max(sum_peak_, sum_size_);
  work_ += static_cast<double>(changes) / static_cast<double>(problem_.n());
  const bool done =
      passes_.gram(entered, {}, 1.0, ones_, room_, sum_) && passes_.gram(left, {}, -1.0, ones_, room_, sum_);
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
  const double left = residual(grad, move);
  if (left > 1e-6 && factor_.corrected())  // rounding: rows that left too much
    return make_factor() && solve_again(grad, move);
  if (left <= 1e-10) return true;
  // one step of refinement on what the scaled factor left
  factor_.solve(scratch_);
  for (Index j = 0; j < d_; ++j) move[j] += scratch_[j];
  return true;
}

double NewtonSystem::residual(ConstVector grad, ConstVector move) {
  const int n = static_cast<int>(d_), inc = 1;
  const double minus = -1, slope = -slope_;
  scratch_.assign(grad.begin(), grad.end());
  blas_.dsymv("U", &n, &slope, sum_.data(), &n, move.data(), &inc, &minus, scratch_.data(), &inc);
  for (Index j = 0; j < d_; ++j) scratch_[j] -= ridge_[j] * move[j];
  return std::sqrt(squared(scratch_) / squared(grad));
}

std::vector<double> NewtonSystem::lend() {
  if (!std::exchange(factored_, false) || uniform_) return {};
  return std::move(sum_);
}

bool NewtonSystem::borrow(std::vector<double> sum) {
  if (wide_ || sum.size() != static_cast<std::size_t>(d_ * d_)) return false;
  sum_ = std::move(sum);
  slope_ = 1;
  in_sum_.clear();
  factored_ = make_factor();
  return factored_;
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

bool NewtonSystem::hessian_diagonal(ConstVector slope, Vector diagonal) {
  if (!passes_.squares(zone_, 1, slope, diagonal.first(p_))) return false;
  work_ += static_cast<double>(zone_size()) / static_cast<double>(problem_.n());
  for (Index j = 0; j < p_; ++j) diagonal[j] += 1.0;
  const double weight = reg_b_ + std::accumulate(weight_.begin(), weight_.end(), 0.0);
  if (ones_) diagonal[p_] = weight > 0 ? weight : 1.0;
  return true;
}

NewtonSystem::Outcome NewtonSystem::conjugate_gradients(ConstVector grad, Vector move, double accuracy, Index most,
                                                        const Precondition& precondition) {
  std::vector<double> r(d_), s(d_), direction(d_), product(d_);
  std::fill(move.begin(), move.end(), 0.0);
  for (Index j = 0; j < d_; ++j) r[j] = -grad[j];
  if (!precondition(r, s)) return Outcome::given_up;
  direction = s;
  double rs = dot(r, s);
  const double goal = accuracy * accuracy * rs;
  for (Index iteration = 0; rs > goal; ++iteration) {
    if (iteration >= most) return Outcome::unfinished;
    if (!multiply(direction, product)) return Outcome::given_up;
    const double curvature = dot(direction, product);
    if (!(curvature > 0)) break;
    const double t = rs / curvature;
    for (Index j = 0; j < d_; ++j) {
      move[j] += t * direction[j];
      r[j] -= t * product[j];
    }
    if (!precondition(r, s)) return Outcome::given_up;
    const double next = dot(r, s);
    for (Index j = 0; j < d_; ++j) direction[j] = s[j] + next / rs * direction[j];
    rs = next;
  }
  return Outcome::solved;
}

/// The places in the zone of the `most` rows with the largest slope·‖x‖², in order, then the others.
RowNumbers NewtonSystem::strongest_first(Index most) {
  RowNumbers order(zone_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto strength = [&](std::uint32_t k) { return weight_[k] * squares_[zone_[k]]; };
  std::nth_element(order.begin(), order.begin() + most, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return strength(a) != strength(b) ? strength(a) > strength(b) : a < b;
  });
  std::sort(order.begin(), order.begin() + most);
  return order;
}

/// The strongest rows (S) are inverted exactly: with D = 1 for w, and for b what the others weigh,
/// (D + X̃_SᵀW X̃_S)⁻¹r = D⁻¹(r − X̃_Sᵀu),  (W⁻¹ + X̃_S D⁻¹X̃_Sᵀ) u = X̃_S D⁻¹r.
bool NewtonSystem::solve_by_strongest(ConstVector grad, Vector move, double accuracy, Index most) {
  if (squares_.empty()) {
    squares_.resize(problem_.n());
    if (!passes_.squares(squares_)) return false;
  }
  const RowNumbers order = strongest_first(most);
  RowNumbers rows(most);
  std::vector<double> inverse(most);
  double others = reg_b_;
  for (std::size_t k = static_cast<std::size_t>(most); k < order.size(); ++k) others += weight_[order[k]];
  for (Index k = 0; k < most; ++k) {
    rows[k] = zone_[order[k]];
    inverse[k] = 1 / weight_[order[k]];
  }
  const double per_b = ones_ ? 1 / (others > 0 ? others : 1.0) : 0.0;
  std::vector<double> matrix(static_cast<std::size_t>(most * most)), u(most), full(problem_.n());
  if (!passes_.cross(rows, matrix)) return false;
  for (double& entry : matrix) entry += per_b;
  if (!factor_.make(most, matrix, 1.0, inverse)) return false;
  work_ += static_cast<double>(most) / static_cast<double>(problem_.n());
  const auto invert = [&](ConstVector r, Vector s) {
    if (!passes_.scores(rows, r.first(p_), ones_ ? per_b * r[p_] : 0.0, u)) return false;
    factor_.solve(u);
    for (Index k = 0; k < most; ++k) full[rows[k]] = u[k];
    if (!passes_.combination(rows, full, s.first(p_))) return false;
    for (Index j = 0; j < p_; ++j) s[j] = r[j] - s[j];
    if (ones_) s[p_] = per_b * (r[p_] - std::accumulate(u.begin(), u.end(), 0.0));
    work_ += 2.0 * static_cast<double>(most) / static_cast<double>(problem_.n());
    return true;
  };
  return conjugate_gradients(grad, move, accuracy, most_iterations, invert) != Outcome::given_up;
}

}  // namespace dualgap
