// The Cholesky factor of H = slope·A + diag(r), scaled to a unit diagonal; and, where a few columns u come and go,
// H ± uuᵀ by Woodbury's formula on that factor: for k of them k back-solves side by side in place of a new factor.
#pragma once

#include <vector>

#include "base/blas.hpp"
#include "base/team.hpp"

namespace dualgap {

class Factor {
 public:
  Factor(Team& team, const Blas& blas) : team_(team), blas_(blas) {}

  /// Factors; `a` is an upper triangle by columns and stays as it is. A tiny ridge grows until the factor exists.
  /// False: given up, or no ridge helps.
  bool make(Index size, ConstVector a, double slope, ConstVector r);

  /// Solves from now on with H + Σ signₖ uₖuₖᵀ, the columns u side by side. False: no way to do so, or given up.
  bool correct(std::vector<double> columns, ConstVector signs);
  bool corrected() const { return !small_.empty(); }

  /// x ← H⁻¹x
  void solve(Vector x) const;

 private:
  void back_solve(Index count, double* columns) const;

  Team& team_;
  const Blas& blas_;
  Index size_ = 0;
  std::vector<double> factor_, scale_;
  std::vector<double> solved_, small_;  // Y = H⁻¹U; S + UᵀY factored
  std::vector<int> pivots_;
};

}  // namespace dualgap
