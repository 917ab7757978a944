// decomposition: working sets of q variables, the rest fixed.
//
//   B ← q/2 variables with the smallest slopes upwards and q/2 with the largest slopes downwards
//   βB ← argmin of ½βᵀKβ + Σ h(β) over B alone, Σ over B fixed       (pairs, second order, on the block KBB)
//   g  ← g + K·B (new βB − old βB)
//
// Source: 001 "general decomposition"; Joachims 1999 (SVM-light). What differs, and why: q is some hundred, so that the
// kernel rows of B come as one matrix product and the inner steps stay in the second-level cache; half of B stays from
// the set before, which stops the method from undoing its last step (as the solvers for graphics processors do: Wen et
// al., JMLR 2018); the inner problem is solved to a thirtieth of the violation it began with. With q = 2 one exact step
// is the whole inner problem, and the iterates are those of smo with the most violating pair.
//
// Cost of an outer iteration: q kernel rows where they are not in the cache, and q passes over the active rows; an
// epoch is n changed variables. Memory: the cache (at least 2q rows), q² kernel values, 80 bytes a row, a float32 copy
// of the rows.
#include "solvers/decomposition.hpp"

#include <algorithm>
#include <cmath>

namespace dualgap {

namespace {

template <class T>
class Decomposition {
 public:
  Decomposition(const KernelProblem& problem, const DecompositionOptions& options, const Court& court, Control& control)
      : control_(control), pairs_(problem, court, options, control) {
    const Index variables = pairs_.cells().size();
    q_ = std::max<Index>(2, std::min({options.working_set, variables, pairs_.gram().capacity()}));
    in_set_.assign(variables, 0);
  }

  /// True: the answer stands; false: another precision must go on.
  bool run(Answer& answer) {
    for (bool going = pairs_.start(answer); going;) {
      const Pair worst = pairs_.most_violating();
      if (!(worst.violation > 0)) {
        going = !pairs_.converged(answer);
        continue;
      }
      choose(worst);
      if (!fetch()) break;
      gather();
      solve_inner(worst.violation);
      ++answer.iterations;
      const Index changed = scatter();
      going = changed == 0 ? !pairs_.converged(answer) : !pairs_.consider(answer, static_cast<double>(changed));
    }
    if (pairs_.wants_float64() && !control_.stopped()) return false;
    pairs_.finish(answer);
    return true;
  }

 private:
  /// The working set, by segment: the steepest of either direction, and with room to spare half of the set before.
  void choose(const Pair& worst) {
    const Places before = set_;
    set_.clear();
    std::fill(in_set_.begin(), in_set_.end(), std::uint8_t{0});
    // the first sets know little of who matters: they are small, and double every third time
    const Index q = std::min<Index>(q_, Index{128} << std::min<Index>(outer_++ / 3, 20));
    const Index fresh = q >= 16 && !before.empty() ? q / 2 : q;
    const auto& segments = pairs_.segments();
    if (q_ < 4 || segments.size() == 1)
      steepest(segments[worst.segment], fresh);
    else
      for (const Segment& s : segments) steepest(s, fresh / 2);
    for (std::size_t k = before.size(); k-- > 0 && static_cast<Index>(set_.size()) < q;)
      if (static_cast<Index>(before[k]) < end_of_active() && !in_set_[before[k]]) add(before[k]);
    recent_ = set_;
    if (q_ > 2) std::sort(set_.begin(), set_.end());  // by segment, and the block's columns in the order of memory
  }

  Index end_of_active() const {
    const Segment& last = pairs_.segments().back();
    return last.first + last.count;
  }
  std::size_t segment_of(Index v) const {
    return pairs_.segments().size() > 1 && v >= pairs_.segments()[1].first ? 1 : 0;
  }
  void add(std::uint32_t v) {
    in_set_[v] = 1;
    set_.push_back(v);
  }

  void steepest(const Segment& s, Index count) {
    const Cells& c = pairs_.cells();
    double low = infinity, high = -infinity;
    for (Index v = s.first; v < s.first + s.count; ++v) {
      low = std::min(low, c.g[v] + c.up[v]);
      high = std::max(high, c.g[v] + c.down[v]);
    }
    take(s, count / 2, [&](Index v) { return c.g[v] + c.up[v]; }, high);
    take(s, count - count / 2, [&](Index v) { return -(c.g[v] + c.down[v]); }, -low);
  }

  /// Adds the `count` variables of the segment with the smallest keys below `limit`.
  template <class Key>
  void take(const Segment& s, Index count, Key key, double limit) {
    keys_.clear();
    for (Index v = s.first; v < s.first + s.count; ++v)
      if (const double k = key(v); k < limit && !in_set_[v]) keys_.emplace_back(k, static_cast<std::uint32_t>(v));
    const Index size = std::min<Index>(count, static_cast<Index>(keys_.size()));
    if (size < static_cast<Index>(keys_.size())) std::nth_element(keys_.begin(), keys_.begin() + size, keys_.end());
    std::sort(keys_.begin(), keys_.begin() + size);
    for (Index k = 0; k < size; ++k) add(keys_[k].second);
  }

  /// Kernel rows of the set; variables of two segments may share one.
  bool fetch() {
    positions_.clear();
    for (const std::uint32_t v : set_) positions_.push_back(static_cast<std::uint32_t>(pairs_.row_of(v)));
    std::sort(positions_.begin(), positions_.end());
    positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
    std::vector<const T*> unique;
    if (!pairs_.gram().fetch(positions_, pairs_.active(), unique)) return false;
    rows_.resize(set_.size());
    for (std::size_t k = 0; k < set_.size(); ++k) {
      const auto at = std::lower_bound(positions_.begin(), positions_.end(), pairs_.row_of(set_[k]));
      rows_[k] = unique[at - positions_.begin()];
    }
    return true;
  }

  void gather() {
    const Index m = static_cast<Index>(set_.size());
    const Cells& c = pairs_.cells();
    inner_.resize(m);
    block_.resize(m * m);
    for (Index a = 0; a < m; ++a) {
      const std::uint32_t v = set_[a];
      inner_.beta[a] = c.beta[v];
      inner_.g[a] = c.g[v];
      inner_.low[a] = c.low[v];
      inner_.high[a] = c.high[v];
      inner_.kink[a] = c.kink[v];
      inner_.quad[a] = c.quad[v];
      inner_.diagonal[a] = c.diagonal[v];
      inner_.refresh(a);
    }
    columns_.resize(m);
    for (Index b = 0; b < m; ++b) columns_[b] = static_cast<std::uint32_t>(pairs_.row_of(set_[b]));
    const Index at_once = 64;
    const auto rows_of_block = [&](Index k) {
      for (Index a = k * at_once; a < std::min(m, (k + 1) * at_once); ++a)
        for (Index b = 0; b < m; ++b) block_[a * m + b] = rows_[a][columns_[b]];
    };
    if (m >= 512)
      control_.team.for_each((m + at_once - 1) / at_once, rows_of_block);
    else
      for (Index k = 0; k * at_once < m; ++k) rows_of_block(k);
    parts_.clear();
    for (Index first = 0; first < m;) {
      Index end = first;
      while (end < m && segment_of(set_[end]) == segment_of(set_[first])) ++end;
      parts_.push_back({first, end - first, first});
      first = end;
    }
  }

  /// Pairs on the block until the violation is a thirtieth of the outer one.
  void solve_inner(double violation) {
    const auto& simd = simd::active().mercer.of<T>();
    const Index m = static_cast<Index>(set_.size());
    const Index most = m <= 2 ? 1 : 100 * m;
    const double enough = m <= 2 ? 0.0 : 0.03 * violation;
    Index i = 0, j = 0;
    double t = 0;
    for (Index step = 0; step <= most; ++step) {
      double worst = 0;
      Index part = -1;
      Index next = 0;
      for (std::size_t k = 0; k < parts_.size(); ++k) {
        const Segment& s = parts_[k];
        const simd::Extremes e =
            simd.step(inner_.g.data() + s.first, inner_.up.data() + s.first, inner_.down.data() + s.first,
                      block_.data() + i * m + s.first, block_.data() + j * m + s.first, t, s.count);
        const double v = e.high.value - e.low.value;
        if (std::isfinite(v) && v > worst) {
          worst = v;
          part = static_cast<Index>(k);
          next = s.first + e.low.place;
          j_most_ = s.first + e.high.place;
        }
      }
      if (part < 0 || worst <= enough || step == most) break;
      i = next;
      j = m <= 2 ? j_most_ : partner(parts_[part], i, m);
      t = inner_.advance(i, j, static_cast<double>(block_[i * m + j]));
      if (t == 0) break;
      if ((step & 1023) == 1023 && control_.tick(2048 * m)) break;
    }
  }

  Index partner(const Segment& s, Index i, Index m) const {
    const auto& simd = simd::active().mercer.of<T>();
    const simd::Found found =
        simd.gain(inner_.g.data() + s.first, inner_.down.data() + s.first, block_.data() + i * m + s.first,
                  inner_.diagonal.data() + s.first, inner_.diagonal[i], inner_.g[i] + inner_.up[i], 1e-12, s.count);
    return found.place < 0 ? j_most_ : s.first + found.place;
  }

  /// The set's new β back to all; g of everyone. How many variables changed.
  Index scatter() {
    Cells& c = pairs_.cells();
    std::vector<const T*> rows;
    std::vector<double> change;
    for (std::size_t a = 0; a < set_.size(); ++a) {
      const std::uint32_t v = set_[a];
      const double d = inner_.beta[a] - c.beta[v];
      if (d == 0) continue;
      rows.push_back(rows_[a]);
      change.push_back(d);
      c.beta[v] = inner_.beta[a];
      c.g[v] += c.quad[v] * d;
      c.refresh(v);
    }
    if (!rows.empty()) pairs_.combine(rows, change);
    set_ = recent_;
    return static_cast<Index>(rows.size());
  }

  Control& control_;
  Pairs<T> pairs_;
  Index q_ = 2, j_most_ = 0, outer_ = 0;
  Places set_, recent_, positions_, columns_;
  std::vector<std::uint8_t> in_set_;
  std::vector<std::pair<double, std::uint32_t>> keys_;
  std::vector<const T*> rows_;
  Cells inner_;
  std::vector<T> block_;
  std::vector<Segment> parts_;
};

}  // namespace

void decomposition(const KernelProblem& problem, Answer& answer, const DecompositionOptions& options,
                   const Court& court, Control& control) {
  if (Decomposition<float>(problem, options, court, control).run(answer)) return;
  if (!Decomposition<double>(problem, options, court, control).run(answer)) control.stop(Status::stalled);
}

}  // namespace dualgap
