// The three passes over rows that everything but coordinate steps is made of: scores, combination, Gram; and the
// product with a Gram matrix that is never formed. Fixed blocks, threaded by a team, sums in order: the same bits for
// every number of threads. Each may be given up between blocks when the team's `between` says so; it then returns false
// and what it wrote is of no use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/blas.hpp"
#include "base/blocks.hpp"
#include "base/team.hpp"
#include "rows/rows.hpp"

namespace dualgap {

using RowList = std::span<const std::uint32_t>;

inline constexpr Blas no_blas{};

class Passes {
 public:
  Passes(const AnyRows& rows, Team& team, const Blas& blas) : rows_(rows), team_(team), blas_(blas) {}
  /// Without the dense products: `gram`, and `cross` of dense rows, must not be asked for.
  Passes(const AnyRows& rows, Team& team) : Passes(rows, team, no_blas) {}

  Index n() const { return count_rows(rows_); }
  Index p() const { return count_cols(rows_); }

  /// What is done with places [begin, end) of a block while they are in the cache.
  using Then = std::function<void(Index block, Index begin, Index end)>;
  /// z = Xw + b
  bool scores(ConstVector w, double b, Vector z, const Then& then = {});
  /// z[k] = xᵀw + b for the k-th row of the list
  bool scores(RowList list, ConstVector w, double b, Vector z, const Then& then = {});
  /// The blocks of `scores` over so many rows.
  Blocks score_blocks(Index count) const;
  /// ‖x‖² of every row
  bool squares(Vector out);
  /// v = Xᵀβ over all rows, or over a list of them (β is still indexed by row); rows with β = 0 cost nothing
  bool combination(ConstVector beta, Vector v);
  bool combination(RowList list, ConstVector beta, Vector v);
  /// Both in one read of the data: the scores of some rows, then weigh(block, begin, end) sets their β, then their part
  /// of v. Of at most `Blocks::most` blocks; those of one come in order.
  bool scores_and_combination(ConstVector w, double b, Vector z, const Then& weigh, ConstVector beta, Vector v);

  /// Up to so many columns blocks of rows have each a matrix of their own, so many at a time, if there is room.
  static constexpr Index small = 1000, most_matrices = 17;
  /// H += sign Σ weight[k] x̃x̃ᵀ over the list, x̃ = (x, 1) where `ones`; upper triangle of a column-major d × d matrix,
  /// below it anything. No weights: all one. Matrices beside H take no more than `room` bytes.
  bool gram(RowList list, ConstVector weight, double sign, bool ones, double room, Vector h);
  /// u = X̃ᵀ diag(d) X̃s over the list, x̃ = (x, 1), s and u of p + 1 entries, d indexed by row
  bool product(RowList list, ConstVector d, ConstVector s, Vector u);
  /// q = Σ d x² by column, over one row of the list in every `step`, each counted so many times
  bool squares(RowList list, Index step, ConstVector d, Vector q);
  /// K = X_Z X_Zᵀ over the list: upper triangle of a column-major k × k matrix.
  bool cross(RowList list, Vector k);

 private:
  const AnyRows& rows_;
  Team& team_;
  const Blas& blas_;
};

/// Does `gram` pack rows and multiply them, or take the entries of each two by two?
bool packs_rows(const AnyRows& rows);

/// Cholesky of a column-major matrix (upper triangle, in place) by panels, threaded; false where it is not positive
/// definite or was given up.
bool cholesky(Index d, double* a, Team& team, const Blas& blas);

}  // namespace dualgap
