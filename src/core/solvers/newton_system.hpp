// The linear system of a Newton step: (reg + Σ slopeᵢ x̃ᵢx̃ᵢᵀ) move = −grad over the rows of the zone (slope > 0).
//
// Where a d × d matrix fits: its Cholesky factor, or by Woodbury one of k × k over the zone's rows where they are few.
// Matrices are scaled to a unit diagonal inside, the problem stays as stated.
//
// Where columns are too many ("wide"): conjugate gradients with a diagonal preconditioner and a budget. Where that is
// used up: Woodbury over the zone's rows; where they are too many as well, conjugate gradients once more,
// preconditioned by Woodbury over the strongest rows. A small zone of a smoothed loss goes to Woodbury at once.
//
// Where all slopes are equal (kinked losses) the sum Σ x̃x̃ᵀ is kept, and only rows that entered or left the zone are
// read; where they are few, the last factor is corrected instead of made anew.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/row_vector.hpp"
#include "passes/passes.hpp"
#include "problem/problem.hpp"
#include "simd/dot.hpp"
#include "solvers/control.hpp"
#include "solvers/newton_factor.hpp"

namespace dualgap {

class NewtonSystem {
 public:
  NewtonSystem(const Problem& problem, Passes& passes, const Blas& blas, double memory, Control& control);

  /// What is wanted of a wide system: the accuracy given; a factor where that is cheap; what conjugate gradients reach
  /// within their budget; or the factor where the zone is small, and that otherwise.
  enum class Aim { accurately, exactly, roughly, provingly };

  /// The move for this gradient; (grad, move) hold w's p coordinates, then b's where there is an intercept.
  /// False: given up.
  bool solve(ConstVector slope, ConstVector grad, Vector move, double accuracy, Aim aim);
  /// Did conjugate gradients use up their budget in the last call?
  bool strained() const { return strained_; }

  /// The same with the matrix of the last call, where it was a d × d one: for smooth losses it changes little late.
  bool solve_again(ConstVector grad, Vector move);
  bool can_solve_again() const { return factored_; }

  /// Σ slope x̃x̃ᵀ of the last call, where it was a d × d matrix and slopes differ, to begin another system with. No more
  /// may be asked of this one.
  std::vector<double> lend();
  /// Takes such a sum for its own; false: it is none.
  bool borrow(std::vector<double> sum);

  /// Was the last `solve` done by a factor? Then its move is exact to rounding.
  bool exact() const { return exact_; }
  /// And is that rounding seen to be small? Only of a d × d matrix.
  bool precise(ConstVector grad, ConstVector move) { return factored_ && residual(grad, move) <= 1e-10; }

  /// Passes' worth of rows read since the last call.
  double take_work() { return std::exchange(work_, 0.0); }
  Index zone_size() const { return static_cast<Index>(zone_.size()); }

  /// Are there too many columns for a d × d matrix?
  bool wide() const { return wide_; }
  /// The same, asked beforehand: more columns than the memory has room for, or many and each row has few of them.
  static bool is_wide(const Problem& problem, double memory);
  /// Bytes that matrices over the columns take where there is all the memory that they can use.
  static double matrices(const Problem& problem);

 private:
  enum class Outcome { solved, unfinished, given_up };
  using Precondition = std::function<bool(ConstVector, Vector)>;
  static constexpr Index few = 2000;     // zones of up to so many rows are factored at once where steps should be exact
  static constexpr Index strong = 3000;  // the most rows to factor where columns are too many
  static constexpr Index most_iterations = 500;  // of conjugate gradients, then what they have is taken

  void find_zone(ConstVector slope);
  void mark_zone(char mark);
  bool update_gram();
  bool rebuild_gram();
  bool solve_gram(ConstVector grad, Vector move);
  /// ‖−grad − H move‖ / ‖grad‖ for the d × d matrix; the vector itself is in scratch_.
  double residual(ConstVector grad, ConstVector move);
  bool solve_woodbury(ConstVector grad, Vector move);
  bool solve_wide(ConstVector slope, ConstVector grad, Vector move, double accuracy, Aim aim);
  RowNumbers strongest_first(Index most);
  bool solve_by_strongest(ConstVector grad, Vector move, double accuracy, Index most);
  Outcome conjugate_gradients(ConstVector grad, Vector move, double accuracy, Index most,
                              const Precondition& precondition);
  bool hessian_diagonal(ConstVector slope, Vector diagonal);
  bool multiply(ConstVector x, Vector out);
  bool make_factor();
  bool correct_factor();

  const Problem& problem_;
  Passes& passes_;
  const Blas& blas_;
  Control& control_;
  const Index p_;
  const bool ones_;
  const Index d_;
  const double reg_b_;
  const double room_;    // bytes for other matrices over the columns than the sum and its factor
  const Index largest_;  // side of the largest matrix allowed
  const bool wide_;

  RowNumbers zone_;
  RowVector weight_;  // slopes of the zone's rows
  bool uniform_ = false;
  std::vector<double> sum_;   // Σ x̃x̃ᵀ over rows_in_sum_, or Σ slope x̃x̃ᵀ
  std::vector<char> in_sum_;  // by row
  Index sum_size_ = 0, sum_peak_ = 0;
  Factor factor_;
  std::vector<char> in_factor_;            // rows of the sum when it was factored
  double slope_ = 1, factored_slope_ = 0;  // of all rows in the sum: H = slope·sum + diag(ridge)
  std::vector<double> ridge_, scratch_;
  std::vector<double> squares_;  // ‖x‖² by row, where asked for
  Index hopeless_ = 0;           // rows of the largest zone that took more than the budget: no other try up to there
  double work_ = 0;
  bool factored_ = false, exact_ = false, strained_ = false;
};

}  // namespace dualgap
