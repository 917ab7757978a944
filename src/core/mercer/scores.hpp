// Scores of rows under kernel models: S[i, m] = Σ over support rows j of k(xᵢ, sⱼ) · coef[j, m], in float64, in blocks,
// threaded, with sums in a fixed order. Prediction and the judge stand on this; no solver does.
//
// Memory: a packed piece of the support rows (at most 32 MB) and a block of rows a thread, whatever their numbers.
#pragma once

#include <span>

#include "base/team.hpp"
#include "mercer/pack.hpp"

namespace dualgap {

/// `width` columns of coefficients over all support rows, used once for each range [first, last) of support rows: the
/// outputs are ranges × width, range after range. (A class is a range, and a column holds its part of one pair.)
struct Outputs {
  const double* coef;  // column by column: support rows × width
  Index width;
  std::span<const std::pair<Index, Index>> ranges;
  Index count() const { return width * static_cast<Index>(ranges.size()); }
};

/// out: column by column, rows × outputs, overwritten. `support_ids` are rows of `support`; for a precomputed kernel
/// they are columns of `rows`. False: it was given up.
bool kernel_scores(const Kernel& kernel, const AnyRows& rows, std::span<const std::uint32_t> ids,
                   const AnyRows& support, std::span<const std::uint32_t> support_ids, const Outputs& outputs,
                   double* out, Team& team, Patience patience);

}  // namespace dualgap
