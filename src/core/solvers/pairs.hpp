// What the pair methods share (smo, decomposition): the dual of a kernel problem as a quadratic program in β,
//
//   min ½βᵀKβ + Σ hᵢ(βᵢ),   h(β) = lβ + κ|β| + ½dβ² on [low, high],   Σβ fixed over each segment,
//
// its gradient, the exact step of a pair (i, j) along (+1, −1), shrinking, and the way to the judge. Signs are those of
// the house: β may be negative, so neither labels nor doubled variables appear (ν-regression has two segments over the
// same rows, because it fixes two sums).
//
//   up    the slope of the objective when βᵢ grows:  g + up,    +∞ at the upper bound
//   down  the slope when it falls:                   g + down,  −∞ at the lower bound
//   optimal where no slope up is below a slope down:  min (g + up) ≥ max (g + down)
//
// Kernel rows are float32 and g is float64. When the judge has seen a point its Kβ, made from the data in float64,
// replaces the accumulated one: what float32 lost is made good there (iterative refinement), and where that does not
// help the rows are made in float64.
#pragma once

#include <functional>
#include <optional>

#include "judge/kernel_judge.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct PairOptions {
  double cache_bytes = 200e6;
  bool shrinking = true;
  bool precomputed = false;  // all of K before the first step
};

/// Variables of the program, as arrays that vector instructions like: on cache lines, and in one piece of memory, at
/// distances that are no multiple of a page.
struct Cells {
  struct Lane {
    double* values = nullptr;
    double* data() { return values; }
    const double* data() const { return values; }
    double& operator[](Index k) { return values[k]; }
    double operator[](Index k) const { return values[k]; }
  };
  Lane beta, g, up, down, low, high, kink, quad, diagonal;
  Lane near_up, near_down;        // up and down where the kernel row is at hand, otherwise closed
  double largest = 0, floor = 0;  // of the diagonal, and τ
  std::vector<std::uint8_t> near;
  Index size() const { return static_cast<Index>(near.size()); }
  void resize(Index n);
  void swap(Index a, Index b);
  /// up and down of a variable after its β has changed.
  void refresh(Index k);
  /// The exact step of the pair, i up and j down; changes β and the quadratic parts of g, and returns the length.
  double advance(Index i, Index j, double kij);

 private:
  Buffer<double> memory_;
};

/// Variables [first, first + count) whose β sum to a constant; variable first + k is the row at position row + k.
struct Segment {
  Index first, count, row;
};

struct Pair {
  Index i = -1, j = -1;
  double violation = 0;
  Index segment = 0;
};

/// Judges β (in the problem's order), chooses b and gives Kβ (empty: left before it was made); true: leave.
using Court = std::function<bool(Answer&, Control::Purpose, Index active, std::vector<double>& z)>;

/// The court of a kernel problem; `thresholds` gets what the judge found best.
Court kernel_court(const KernelProblem& problem, const char* solver, Control& control, Thresholds& thresholds);
/// The court of a linear problem solved through its kernel: the answer gets w, and the linear judge speaks.
Court linear_court(const Problem& problem, const KernelProblem& kernel, const char* solver, Control& control);

template <class T>
class Pairs {
 public:
  Pairs(const KernelProblem& problem, const Court& court, const PairOptions& options, Control& control);

  /// From β of the answer (or zero, or what the judge makes feasible of it). False: nothing is left to do.
  bool start(Answer& answer);
  /// The pair with the steepest slopes, from the last pass over g: of all rows, or of those at hand.
  Pair most_violating() const { return steepest(extremes_); }
  Pair most_violating_near() const { return steepest(near_); }
  /// The partner of i that promises most among the rows at hand (Fan, Chen, Lin 2005, WSS 2).
  Index best_partner(const Pair& pair, const T* row) const;
  /// Brings kernel rows to hand: those of the pair and up to `count` others that violate at least `share` as much, the
  /// steepest first. False: left before they were made.
  bool bring(const Pair& pair, Index count, double share);
  Index at_hand() const { return at_hand_; }
  bool all_at_hand() const { return at_hand_ == (segments_.size() < 2 ? active_ : cells_.size()); }
  /// One step of a pair with its kernel rows: β, g, and the next extremes of the rows at hand. False: floating point
  /// allows none.
  bool step(const Pair& pair, const T* row_i, const T* row_j);
  /// g += Σ aᵣ rowᵣ, threaded; and the next extremes.
  void combine(const std::vector<const T*>& rows, const std::vector<double>& a);
  void find_extremes();
  void find_near();

  /// Called now and then: estimates the gap, asks the judge when it promises to pass, shrinks. True: leave.
  bool consider(Answer& answer, double row_operations);
  /// No pair is left on the active rows: open all, ask the judge. True: leave.
  bool converged(Answer& answer);
  void finish(Answer& answer);

  Gram<T>& gram() { return gram_; }
  Cells& cells() { return cells_; }
  const std::vector<Segment>& segments() const { return segments_; }
  Index active() const { return active_; }
  /// The position of a variable's row.
  Index row_of(Index v) const;
  bool wants_float64() const { return escalate_; }

 private:
  struct Estimate {
    double gap = 0, size = 0, rounding = 0;
  };
  /// Rows [begin, end) that were shrunk together, and the β that their g knows.
  struct Stage {
    Index begin, end;
    std::vector<double> beta;
  };
  void program();
  Pair steepest(const std::vector<simd::Extremes>& extremes) const;
  simd::Extremes scan(const double* up, const double* down, Index first, Index count);
  Estimate estimate() const;
  double share(Index v, double lambda, double& value) const;
  void shrink();
  bool reopen();
  bool ask(Answer& answer, Control::Purpose purpose);
  void fill(Answer& answer) const;
  void put(const std::vector<double>& beta);
  void take(const std::vector<double>& z);
  void reach(Index count);
  double f_of(Index v) const { return cells_.g[v] - linear_[v] - cells_.quad[v] * cells_.beta[v]; }

  const KernelProblem& problem_;
  const Court& court_;
  PairOptions options_;
  Control& control_;
  Gram<T> gram_;
  Cells cells_;
  std::vector<double> linear_;
  std::vector<Segment> segments_;
  std::vector<simd::Extremes> extremes_, near_;
  std::vector<Stage> stages_;          // the shrunk rows, last shrunk first in position
  std::vector<std::uint32_t> origin_;  // position → the problem's order
  std::vector<std::pair<double, std::uint32_t>> keys_;
  Places wanted_;
  std::vector<const T*> brought_;
  Index at_hand_ = 0;
  Index active_ = 0;
  double operations_ = 0, next_shrink_ = 0, next_show_ = 0, size_ = 0, last_gap_ = infinity;
  Index poor_ = 0;  // verdicts in a row that brought little
  bool escalate_ = false;
};

}  // namespace dualgap
