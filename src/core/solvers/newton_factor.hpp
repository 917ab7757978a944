// The Cholesky factor of H = slope·A + diag(r), scaled to a unit diagonal; and, where a few columns u come and go,
// H ± uuᵀ by Woodbury's formula on that factor: a back-solve for every new one in place of a new factor.
#pragma once

#include <cstdint>
#include <functional>
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

  /// One uuᵀ more or less; `row` is its name.
  struct Change {
    std::uint32_t row;
    double sign;
  };
  /// Solves from now on with H + Σ sign uuᵀ; read(row, u) writes a column (into zeros), and is asked only for rows that
  /// were not among the changes before. False: there is no such inverse.
  using Read = std::function<void(std::uint32_t, double*)>;
  bool correct(const std::vector<Change>& changes, const Read& read);
  bool corrected() const { return !small_.empty(); }

  /// x ← H⁻¹x
  void solve(Vector x) const;

 private:
  void back_solve(Index count, double* columns) const;
  Index keep(const std::vector<Change>& changes);

  Team& team_;
  const Blas& blas_;
  Index size_ = 0;
  std::vector<double> factor_, scale_;
  std::vector<Change> known_;             // what the columns stand for
  std::vector<double> columns_, solved_;  // U, Y = H⁻¹U
  std::vector<double> small_;             // S + UᵀY factored
  std::vector<int> pivots_;
};

}  // namespace dualgap
