// A second dual point of Newton's step, on its tangent.
//
// Where the system was solved exactly, β − t·slope·ray has Xᵀβ = v + t(grad + move) without a pass, and at t = 1 that
// is w at the end of the full step. So its gap is what the loss bends along the step, of third order, where that of the
// new β is the squared gradient, which no Hessian tempers. With corners, what bends are the rows that leave the zone,
// and at t = 1 it is the solution of the zone's own problem, however short the step that P allows.
#pragma once

#include <cmath>
#include <vector>

#include "passes/passes.hpp"
#include "solvers/newton_rows.hpp"

namespace dualgap {

template <class Loss>
class NewtonTangent {
 public:
  using Sums = typename NewtonRows<Loss>::Sums;

  RowVector beta;
  Sums sums;  // over its β

  void begin(std::size_t rows) { direction_.resize(rows); }
  /// Places [begin, end) of the rows watched; to be called before their slopes are those of the step's end.
  void follow(const NewtonRows<Loss>& rows, Index begin, Index end) {
    rows.focus.each(begin, end, [&](Index i) { direction_[i] = -rows.slope[i] * rows.ray[i]; });
  }

  /// The point at t, within its bounds; what is beyond them is in `spilled`.
  void take(NewtonRows<Loss>& rows, double t) {
    beta.resize(direction_.size());
    sums = {};
    clipped_ = rows.where_among(sums, [&](Index begin, Index end, Sums& s, auto take) {
      constexpr Index many = 64;
      double unbound[many], inside[many], dual[many];
      for (Index first = begin; first < end; first += many) {
        const Index count = std::min(many, end - first);
        Index k = 0;
        rows.focus.each(first, first + count, [&](Index i) { unbound[k++] = rows.combined[i] + t * direction_[i]; });
        rows.bound(first, count, unbound, inside, dual);
        k = 0;
        rows.focus.each(first, first + count, [&](Index i) {
          beta[i] = inside[k];
          direction_[i] = inside[k] - unbound[k];
          s.dual += dual[k];
          s.beta += inside[k];
          s.size += std::abs(inside[k]);
          take(i, inside[k] != unbound[k]);
          ++k;
        });
      }
    });
  }

  /// v = Σ x times what the bounds changed.
  bool spilled(Passes& passes, Vector v) const { return passes.combination(clipped_, direction_, v); }
  Index clipped() const { return static_cast<Index>(clipped_.size()); }

 private:
  RowVector direction_;  // of β; once the point is taken, what its bounds changed
  RowNumbers clipped_;
};

}  // namespace dualgap
