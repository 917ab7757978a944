// The three passes over rows that everything but coordinate steps is made of: scores, combination, Gram.
// Fixed blocks, threaded by a team, sums in order: the same bits for every number of threads. Each may be given up
// between blocks when the team's `between` says so; it then returns false and what it wrote is of no use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/blas.hpp"
#include "base/team.hpp"
#include "passes/blocks.hpp"
#include "rows/rows.hpp"

namespace dualgap {

using RowList = std::span<const std::uint32_t>;

class Passes {
 public:
  Passes(const AnyRows& rows, Team& team, const Blas& blas) : rows_(rows), team_(team), blas_(blas) {}

  Index n() const { return count_rows(rows_); }
  Index p() const { return count_cols(rows_); }

  /// z = Xw + b
  bool scores(ConstVector w, double b, Vector z);
  /// z[k] = xᵀw + b for the k-th row of the list
  bool scores(RowList list, ConstVector w, double b, Vector z);
  /// v = Xᵀβ over all rows, or over a list of them (β is still indexed by row); rows with β = 0 cost nothing
  bool combination(ConstVector beta, Vector v);
  bool combination(RowList list, ConstVector beta, Vector v);

  /// H += sign Σ weight[k] x̃x̃ᵀ over the list, x̃ = (x, 1) where `ones`; upper triangle of a column-major d × d matrix.
  /// No weights: all one.
  bool gram(RowList list, ConstVector weight, double sign, bool ones, Vector h);
  /// K = X_Z X_Zᵀ over the list: upper triangle of a column-major k × k matrix.
  bool cross(RowList list, Vector k);

 private:
  const AnyRows& rows_;
  Team& team_;
  const Blas& blas_;
};

/// Cholesky of a column-major matrix (upper triangle, in place) by panels, threaded; false where it is not positive
/// definite or was given up.
bool cholesky(Index d, double* a, Team& team, const Blas& blas);

}  // namespace dualgap
