#include "solvers/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dualgap {

namespace {
constexpr double least_curvature = 1e-12;  // of k(x, x): τ, where a kernel is not positive the pair goes to its bounds
constexpr double shrink_every = 2000;      // row operations: 1000 pairs
constexpr Index piece = 4096;              // columns of g that one thread updates at a time

/// h of a row under a loss, from its dual: l, κ, d (every conjugate but logistic's is of this form).
struct Shape {
  double linear = 0, kink = 0, quad = 0;
};
template <class Loss>
Shape shape_of(const Loss& loss, double y, double c, Interval box) {
  if (!(box.low < box.high)) return {};
  const double right = std::min(box.high, 1.0), left = std::max(box.low, -1.0);
  const auto slope = [&](double at) {
    return at == 0 ? 0.0 : (4 * loss.dual(y, c, at / 2) - loss.dual(y, c, at)) / at;
  };
  const auto curve = [&](double at) {
    return at == 0 ? 0.0 : 4 * (2 * loss.dual(y, c, at / 2) - loss.dual(y, c, at)) / (at * at);
  };
  const double r = slope(right), l = left == 0 ? r : slope(left), first = right == 0 ? l : r,
               second = left == 0 ? r : l;
  return {-(first + second) / 2, (second - first) / 2, right == 0 ? curve(left) : curve(right)};
}
}  // namespace

void Cells::resize(Index n) {
  const Index apart = (n / 512 * 512) + 512 + 56;  // 56: seven lines from one page's end to the next
  memory_.reserve(11 * apart);
  double* next = memory_.data();
  std::fill_n(next, 11 * apart, 0.0);
  for (auto* a : {&beta, &g, &up, &down, &low, &high, &kink, &quad, &diagonal, &near_up, &near_down})
    a->values = std::exchange(next, next + apart);
  near.assign(n, 0);
}
void Cells::swap(Index a, Index b) {
  for (auto* x : {&beta, &g, &up, &down, &low, &high, &kink, &quad, &diagonal, &near_up, &near_down})
    std::swap((*x)[a], (*x)[b]);
  std::swap(near[a], near[b]);
}
void Cells::refresh(Index k) {
  up[k] = beta[k] < high[k] ? (beta[k] >= 0 ? kink[k] : -kink[k]) : infinity;
  down[k] = beta[k] > low[k] ? (beta[k] > 0 ? kink[k] : -kink[k]) : -infinity;
  near_up[k] = near[k] ? up[k] : infinity;
  near_down[k] = near[k] ? down[k] : -infinity;
}

double Cells::advance(Index i, Index j, double kij) {
  const double curvature = std::max(diagonal[i] + diagonal[j] - 2 * kij, floor);
  const double room_i = high[i] - beta[i], room_j = beta[j] - low[j], room = std::min(room_i, room_j);
  double slope = (g[i] + up[i]) - (g[j] + down[j]), t = 0;  // negative
  const double corner[2] = {beta[i] < 0 && kink[i] > 0 ? -beta[i] : infinity,
                            beta[j] > 0 && kink[j] > 0 ? beta[j] : infinity};
  const int sooner = corner[1] < corner[0] ? 1 : 0;
  for (const int side : {sooner, 1 - sooner, 2}) {  // pieces between the corners at zero, then the last one
    const double end = side == 2 ? room : std::min(room, corner[side]);
    const double free = t - slope / curvature;
    if (free <= end || end == room) {
      t = std::min(free, room);
      break;
    }
    slope += curvature * (end - t) + 2 * (side == 0 ? kink[i] : kink[j]);
    t = end;
    if (slope >= 0) break;
  }
  beta[i] = t == room_i ? high[i] : t == corner[0] ? 0.0 : beta[i] + t;
  beta[j] = t == room_j ? low[j] : t == corner[1] ? 0.0 : beta[j] - t;
  g[i] += quad[i] * t;
  g[j] -= quad[j] * t;
  refresh(i);
  refresh(j);
  return t;
}

template <class T>
Pairs<T>::Pairs(const KernelProblem& problem, const Court& court, const PairOptions& options, Control& control)
    : problem_(problem),
      court_(court),
      options_(options),
      control_(control),
      gram_(problem.rows, problem.ids, problem.kernel, options.cache_bytes, control.team, problem.shared) {
  program();
}

/// The quadratic program of the task.
template <class T>
void Pairs<T>::program() {
  using Task = KernelProblem::Task;
  const Index n = problem_.n(), twice = problem_.task == Task::nu_svr ? 2 : 1, variables = twice * n;
  cells_.resize(variables);
  linear_.resize(variables);
  origin_.resize(n);
  std::iota(origin_.begin(), origin_.end(), 0u);
  segments_ = {{0, n, 0}};
  for (Index i = 0; i < n && !control_.tick(16); ++i) {  // left early: `start` sees it
    const double c = problem_.cost(i), y = problem_.y.empty() ? 0.0 : problem_.y[i];
    Interval box{0, c};
    Shape shape;
    if (problem_.task == Task::loss)
      std::visit(
          [&](const auto& loss) {
            box = loss.box(y, c);
            shape = shape_of(loss, y, c, box);
          },
          problem_.loss);
    if (problem_.task == Task::svdd) shape.linear = -gram_.diagonal()[i] / 2;
    if (problem_.task == Task::nu_svc && y < 0) box = {-c, 0};
    if (problem_.task == Task::nu_svr) shape.linear = -y;
    for (Index v = i; v < variables; v += n) {
      if (v >= n) box = {-c, 0};
      cells_.low[v] = box.low;
      cells_.high[v] = box.high;
      cells_.kink[v] = shape.kink;
      cells_.quad[v] = shape.quad;
      cells_.diagonal[v] = gram_.diagonal()[i] + shape.quad;
      linear_[v] = shape.linear;
    }
  }
  cells_.largest = *std::max_element(cells_.diagonal.data(), cells_.diagonal.data() + variables);
  cells_.floor = least_curvature * (cells_.largest > 0 ? std::min(cells_.largest, 1.0) : 1.0);
  if (problem_.task == Task::nu_svc) {
    const Index positive = std::count_if(problem_.y.begin(), problem_.y.end(), [](double y) { return y > 0; });
    segments_ = {{0, positive, 0}, {positive, n - positive, positive}};
  } else if (problem_.task == Task::nu_svr) {
    segments_ = {{0, n, 0}, {n, n, 0}};
  }
  if (segments_.size() > 1) options_.shrinking = false;  // shrunk rows of two segments would not lie together
  extremes_.resize(segments_.size());
  active_ = n;
  next_shrink_ = shrink_every;
}

template <class T>
Index Pairs<T>::row_of(Index v) const {
  const Segment& s = v >= segments_.back().first ? segments_.back() : segments_.front();
  return v - s.first + s.row;
}

template <class T>
bool Pairs<T>::start(Answer& answer) {
  const Index n = problem_.n();
  if (answer.beta.empty()) answer.beta.assign(n, 0.0);
  put(answer.beta);
  if (control_.look()) return false;
  const bool zero = std::all_of(answer.beta.begin(), answer.beta.end(), [](double b) { return b == 0; });
  if (zero && problem_.task == KernelProblem::Task::loss) {
    take(answer.beta);
  } else {
    std::vector<double> z;
    const bool leave = court_(answer, Control::Purpose::decide, n, z);  // the judge makes β feasible, and Kβ
    if (z.empty()) return false;
    answer.judged = leave;
    put(answer.beta);
    take(z);
    if (leave) return false;
  }
  find_extremes();
  if (!options_.precomputed || gram_.capacity() < n) return true;
  Places all(n);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<const T*> rows;
  return gram_.fetch(all, n, rows);
}

/// β of the problem's rows to the variables; with two segments over the same rows, its positive and negative parts,
/// both raised where their sums are below what is asked.
template <class T>
void Pairs<T>::put(const std::vector<double>& beta) {
  const Index n = problem_.n();
  const bool split = cells_.size() > n;
  for (Index k = 0; k < n; ++k) cells_.beta[k] = beta[origin_[k]];
  if (!split) return;
  double sum = 0;
  for (Index k = 0; k < n; ++k) {
    cells_.beta[n + k] = std::min(cells_.beta[k], 0.0);
    cells_.beta[k] = std::max(cells_.beta[k], 0.0);
    sum += cells_.beta[k];
  }
  double rest = problem_.total / 2 - sum;
  for (Index k = 0; k < n && rest > 0; ++k) {
    const double room = std::min(cells_.high[k] - cells_.beta[k], cells_.beta[n + k] - cells_.low[n + k]),
                 add = std::min(rest, room);
    cells_.beta[k] += add;
    cells_.beta[n + k] -= add;
    rest -= add;
  }
}

template <class T>
void Pairs<T>::find_extremes() {
  const std::vector<const T*> none;
  combine(none, {});
}

template <class T>
Pair Pairs<T>::steepest(const std::vector<simd::Extremes>& extremes) const {
  Pair best;
  best.violation = -infinity;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const double violation = extremes[s].high.value - extremes[s].low.value;
    if (std::isfinite(violation) && violation > best.violation)
      best = {segments_[s].first + extremes[s].low.place, segments_[s].first + extremes[s].high.place, violation,
              static_cast<Index>(s)};
  }
  return best;
}

template <class T>
Index Pairs<T>::best_partner(const Pair& pair, const T* row) const {
  const Segment& s = segments_[pair.segment];
  const double low = cells_.g[pair.i] + cells_.up[pair.i];
  const simd::Found found = simd::active().mercer.of<T>().gain(
      cells_.g.data() + s.first, cells_.near_down.data() + s.first, row + s.row, cells_.diagonal.data() + s.first,
      cells_.diagonal[pair.i], low, cells_.floor, s.count);
  return found.place < 0 ? pair.j : s.first + found.place;
}

template <class T>
bool Pairs<T>::bring(const Pair& pair, Index count, double share) {
  if (control_.look()) return false;
  wanted_.clear();
  const auto steepest = [&](const Segment& s, Index most, double limit, const auto& slope) {
    keys_.clear();
    for (Index v = s.first; v < s.first + s.count; ++v)
      if (const double key = slope(v); key < limit && !cells_.near[v])
        keys_.emplace_back(key, static_cast<std::uint32_t>(v - s.first + s.row));
    most = std::min<Index>(most, static_cast<Index>(keys_.size()));
    std::nth_element(keys_.begin(), keys_.begin() + most, keys_.end());
    for (Index k = 0; k < most; ++k) wanted_.push_back(keys_[k].second);
  };
  const Index most = count / (2 * static_cast<Index>(segments_.size()));
  for (std::size_t k = 0; k < segments_.size() && most > 0; ++k) {
    const double low = extremes_[k].low.value, high = extremes_[k].high.value, least = share * pair.violation;
    steepest(segments_[k], most, high - least, [&](Index v) { return cells_.g[v] + cells_.up[v]; });
    steepest(segments_[k], most, -low - least, [&](Index v) { return -(cells_.g[v] + cells_.down[v]); });
  }
  for (const Index v : {pair.i, pair.j}) wanted_.push_back(static_cast<std::uint32_t>(row_of(v)));
  std::sort(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  if (!gram_.fetch(wanted_, active_, brought_) || control_.look()) return false;
  find_near();
  return true;
}

/// Which rows are at hand, and their extremes.
template <class T>
void Pairs<T>::find_near() {
  near_.resize(segments_.size());
  at_hand_ = 0;
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& s = segments_[k];
    for (Index v = s.first; v < s.first + s.count; ++v) {
      cells_.near[v] = gram_.holds(v - s.first + s.row, active_);
      at_hand_ += cells_.near[v];
      cells_.refresh(v);
    }
    near_[k] = scan(cells_.near_up.data(), cells_.near_down.data(), s.first, s.count);
  }
}

/// The extremes of g + up and g + down over variables [first, first + count).
template <class T>
simd::Extremes Pairs<T>::scan(const double* up, const double* down, Index first, Index count) {
  static const T nothing[piece] = {};
  simd::Extremes all{{infinity, 0}, {-infinity, 0}};
  for (Index begin = 0; begin < count; begin += piece) {
    const Index at = first + begin, size = std::min(piece, count - begin);
    const simd::Extremes found =
        simd::active().mercer.of<T>().step(cells_.g.data() + at, up + at, down + at, nothing, nothing, 0.0, size);
    if (found.low.value < all.low.value) all.low = {found.low.value, found.low.place + begin};
    if (found.high.value > all.high.value) all.high = {found.high.value, found.high.place + begin};
  }
  return all;
}

template <class T>
bool Pairs<T>::step(const Pair& pair, const T* row_i, const T* row_j) {
  const double before_i = cells_.beta[pair.i], before_j = cells_.beta[pair.j];
  const double t = cells_.advance(pair.i, pair.j, static_cast<double>(row_i[row_of(pair.j)]));
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& s = segments_[k];
    near_[k] =
        simd::active().mercer.of<T>().step(cells_.g.data() + s.first, cells_.near_up.data() + s.first,
                                           cells_.near_down.data() + s.first, row_i + s.row, row_j + s.row, t, s.count);
  }
  return cells_.beta[pair.i] != before_i || cells_.beta[pair.j] != before_j;
}

template <class T>
void Pairs<T>::combine(const std::vector<const T*>& rows, const std::vector<double>& a) {
  const auto& simd = simd::active().mercer.of<T>();
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const Segment& s = segments_[k];
    const auto work = [&](Index b) {
      const Index begin = b * piece, size = std::min(piece, s.count - begin);
      simd.combine(cells_.g.data() + s.first + begin, rows.data(), a.data(), static_cast<Index>(rows.size()),
                   s.row + begin, size);
    };
    const Index blocks = rows.empty() ? 0 : (s.count + piece - 1) / piece;
    if (static_cast<Index>(rows.size()) * s.count > 1000000)
      control_.team.for_each(blocks, work);
    else
      for (Index b = 0; b < blocks; ++b) work(b);
    extremes_[k] = scan(cells_.up.data(), cells_.down.data(), s.first, s.count);
  }
}

/// A variable's part of the gap at the multiplier λ: max over B of h(β) − h(B) + (f − λ)(β − B); and h(β) + ½βf.
template <class T>
double Pairs<T>::share(Index v, double lambda, double& value) const {
  const double b = cells_.beta[v], d = cells_.quad[v], kink = cells_.kink[v], f = f_of(v);
  const double pull = lambda - f - linear_[v];
  double to = pull > kink    ? cells_.high[v]
              : pull < -kink ? cells_.low[v]
                             : std::clamp(0.0, cells_.low[v], cells_.high[v]);
  if (d > 0) to = std::clamp(soft(pull, kink) / d, cells_.low[v], cells_.high[v]);
  const auto h = [&](double x) { return linear_[v] * x + kink * std::abs(x) + 0.5 * d * x * x; };
  value = h(b) + 0.5 * b * f;
  return std::isfinite(to) ? h(b) - h(to) + (f - lambda) * (b - to) : infinity;
}

template <class T>
typename Pairs<T>::Estimate Pairs<T>::estimate() const {
  Estimate all;
  double objective = 0, mass = 0;
  for (std::size_t k = 0; k < segments_.size(); ++k) {
    const double low = extremes_[k].low.value, high = extremes_[k].high.value;
    const double lambda = std::isinf(low)    ? (std::isinf(high) ? 0.0 : high)
                          : std::isinf(high) ? low
                                             : 0.5 * (low + high);
    const Segment& s = segments_[k];
    for (Index v = s.first; v < s.first + s.count; ++v) {
      double value;
      all.gap += share(v, lambda, value);
      objective += value;
      mass += std::abs(cells_.beta[v]);
      all.rounding += unit_roundoff * std::abs(value);
    }
  }
  all.size = std::max(std::abs(objective), std::abs(all.gap - objective));
  // the optimum of one class may be 0: what is left of it is then rounding, and the judge is asked
  const double dust = 64 * unit_roundoff * mass * mass * cells_.largest;
  if (problem_.task == KernelProblem::Task::one_class && std::abs(objective) <= dust)
    all.rounding = std::max(all.rounding, all.gap);
  return all;
}

template <class T>
bool Pairs<T>::consider(Answer& answer, double row_operations) {
  operations_ += row_operations;
  const double n = static_cast<double>(problem_.n());
  answer.epochs = operations_ / n;
  if (control_.over(answer.epochs) || control_.look()) return true;
  find_extremes();
  const Estimate now = estimate();
  if (active_ == problem_.n()) size_ = now.size;
  if (now.gap <= std::max(0.95 * control_.tol * size_, 16 * now.rounding)) {
    if (active_ < problem_.n()) return !reopen();  // the next look sees all rows
    return ask(answer, Control::Purpose::decide);
  }
  if (control_.watched() && operations_ >= next_show_) {
    next_show_ = operations_ + n;
    if (active_ < problem_.n() && !reopen()) return true;
    return ask(answer, Control::Purpose::show);
  }
  if (options_.shrinking && operations_ >= next_shrink_) shrink();
  return false;
}

template <class T>
bool Pairs<T>::converged(Answer& answer) {
  if (control_.stopped()) return true;
  if (active_ < problem_.n()) return !reopen();
  return ask(answer, Control::Purpose::decide);
}

/// Asks the judge about the present point; where he sends it back, his Kβ replaces ours. True: leave.
template <class T>
bool Pairs<T>::ask(Answer& answer, Control::Purpose purpose) {
  fill(answer);
  std::vector<double> z;
  answer.judged = false;
  const bool leave = court_(answer, purpose, active_, z);
  answer.judged = !z.empty();
  if (leave || z.empty()) return true;
  if (segments_.size() < 2) put(answer.beta);
  take(z);
  find_extremes();
  answer.judged = false;  // the point moves on
  if (purpose == Control::Purpose::show) return false;
  const double gap = control_.certificate().gap;
  poor_ = gap > 0 && gap < 0.7 * last_gap_ ? 0 : poor_ + 1;
  last_gap_ = std::min(gap, last_gap_);
  escalate_ = answer.judged = poor_ >= 3;
  return escalate_;
}

template <class T>
void Pairs<T>::finish(Answer& answer) {
  if (answer.judged || control_.broken_off()) return;
  fill(answer);
  std::vector<double> z;
  court_(answer, Control::Purpose::decide, active_, z);
  answer.judged = !z.empty();
}

/// Rows that no pair would choose now leave the active set: their positions come last.
template <class T>
void Pairs<T>::shrink() {
  next_shrink_ = operations_ + shrink_every;
  const double low = extremes_[0].low.value, high = extremes_[0].high.value;
  if (!std::isfinite(low) || !std::isfinite(high)) return;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> swaps;
  Index end = active_;
  const auto idle = [&](Index v) {
    return !(cells_.g[v] + cells_.up[v] < high) && !(cells_.g[v] + cells_.down[v] > low);
  };
  for (Index v = 0; v < end; ++v) {
    if (!idle(v)) continue;
    while (--end > v && idle(end)) {
    }
    if (end > v) swaps.emplace_back(static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(end));
  }
  if (active_ - end < active_ / 5 || end < 2) return;  // not worth moving anything
  stages_.push_back({end, active_, {cells_.beta.data(), cells_.beta.data() + active_}});
  for (const auto& [a, b] : swaps) {
    cells_.swap(a, b);
    std::swap(linear_[a], linear_[b]);
    for (Stage& stage : stages_) std::swap(stage.beta[a], stage.beta[b]);
    std::swap(origin_[a], origin_[b]);
  }
  gram_.swap(swaps);
  reach(end);
  find_extremes();
}

template <class T>
void Pairs<T>::reach(Index count) {
  active_ = count;
  segments_[0].count = count;
}

/// Brings g of the shrunk rows up to date: what β has changed since, times their kernel columns.
template <class T>
bool Pairs<T>::reopen() {
  const Index n = problem_.n();
  Places changed;
  for (Index v = 0; v < stages_.front().begin; ++v)
    if (std::any_of(stages_.begin(), stages_.end(),
                    [&](const Stage& s) { return v < s.end && cells_.beta[v] != s.beta[v]; }))
      changed.push_back(static_cast<std::uint32_t>(v));
  std::vector<const T*> rows;
  const Index most = std::max<Index>(2, std::min<Index>(gram_.capacity(), 256));
  for (std::size_t k = 0; k < changed.size(); k += most) {
    const std::size_t count = std::min<std::size_t>(most, changed.size() - k);
    if (!gram_.fetch(std::span(changed).subspan(k, count), n, rows)) return false;
    for (const Stage& stage : stages_) {
      std::vector<double> change(count, 0.0);
      for (std::size_t r = 0; r < count; ++r)
        if (const Index v = changed[k + r]; v < stage.end) change[r] = cells_.beta[v] - stage.beta[v];
      simd::active().mercer.of<T>().combine(cells_.g.data() + stage.begin, rows.data(), change.data(),
                                            static_cast<Index>(count), stage.begin, stage.end - stage.begin);
    }
  }
  stages_.clear();
  reach(n);
  find_extremes();
  next_shrink_ = operations_ + shrink_every;
  return true;
}

template <class T>
void Pairs<T>::fill(Answer& answer) const {
  answer.beta.assign(problem_.n(), 0.0);
  for (Index v = 0; v < cells_.size(); ++v) answer.beta[origin_[row_of(v)]] += cells_.beta[v];
}

template <class T>
void Pairs<T>::take(const std::vector<double>& z) {
  for (Index v = 0; v < cells_.size(); ++v) {
    cells_.g[v] = z[origin_[row_of(v)]] + linear_[v] + cells_.quad[v] * cells_.beta[v];
    cells_.refresh(v);
  }
}

template class Pairs<float>;
template class Pairs<double>;

}  // namespace dualgap
