// The problem, once for all. Every solver and the judge see this and nothing else of the data.
//
//   primal  P(w, b) = ½‖w‖² + R(b) + Σ cᵢ ℓ(yᵢ, xᵢᵀw + b)
//   dual    D(β)    = −½‖v‖² − S(Σβ) − Σ cᵢ ℓ*(yᵢ, −βᵢ/cᵢ),   v = Σ βᵢxᵢ,   cᵢ = C · weightᵢ
//
//   intercept     R(b)       S(t)
//   none          b = 0      0
//   regularized   b²/(2s²)   ½s²t²
//   free          t₀b        0 if t = t₀, else ∞      t₀ = `total`, 0 but for one-class problems
//
// This is the only scaling in the house; λ, ν and 1/n live at its border.
#pragma once

#include "losses/list.hpp"
#include "rows/rows.hpp"

namespace dualgap {

struct Problem {
  AnyRows rows;
  ConstVector y;
  const double* weight;  // nullptr: all ones
  double C;
  AnyLoss loss;
  Intercept intercept;
  double scale;      // s
  double total = 0;  // t₀: what Σβ must be where the intercept is free (one-class problems: 1)
  double floor = 0;  // gaps are relative to max(|P|, |D|, floor)
  double unit = 1;   // P and D are reported in this unit (SVDD: 2, as its own statement has ‖a‖² and not ½‖a‖²)

  Index n() const { return static_cast<Index>(y.size()); }
  Index p() const { return count_cols(rows); }
  double cost(Index i) const { return weight ? C * weight[i] : C; }
  /// The square of the implied column's value: what the intercept adds to ‖x‖² and S.
  double scale2() const { return intercept == Intercept::regularized ? scale * scale : 0.0; }
};

}  // namespace dualgap
