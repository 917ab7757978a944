// Kernel functions k(x, y): a number for two rows, positive semidefinite but for sigmoid.
//
//   linear      xᵀy                      poly       (γ xᵀy + r)ᵈ
//   rbf         exp(−γ‖x − y‖²)          sigmoid    tanh(γ xᵀy + r)
//   laplacian   exp(−γ‖x − y‖₁)          chi2       exp(−γ Σ (x − y)²/(x + y)), rows not negative
//   precomputed the table's own values: "rows" are rows of K
//
// The first four are functions of one product (and two norms), so a block of kernel rows is a matrix product and a
// vectorised function of its entries; the next two need both rows.
#pragma once

#include "base/types.hpp"

namespace dualgap {

struct Kernel {
  enum class Shape { linear, poly, rbf, sigmoid, laplacian, chi2, precomputed };
  Shape shape = Shape::linear;
  double gamma = 1, coef0 = 0;
  int degree = 3;

  /// Does a value follow from the product xᵀy and the norms?
  bool by_product() const { return shape < Shape::laplacian; }
  /// Is it a function of x − y? Then a common shift of all rows changes nothing but rounding.
  bool shift_invariant() const { return shape == Shape::rbf || shape == Shape::laplacian; }

  /// out[j] = k(x, xⱼ) from products[j] = xᵀxⱼ (or the distance, for laplacian and chi2), ‖x‖² and ‖xⱼ‖².
  template <class T>
  void finish(T* out, const T* products, const T* norms, T norm, Index n) const;
  /// Products, or the distances that laplacian and chi2 are functions of, of some rows with some panels of rows.
  template <class T>
  void over_panels(T* out, Index ld, const T* left, Index rows, const T* panels, Index count, Index cols) const;
  /// k(x, x) from ‖x‖².
  double of_itself(double squared_norm) const;
};

}  // namespace dualgap
