// The one pass that looks at data before anyone trusts it.
#pragma once

#include "base/team.hpp"
#include "rows/rows.hpp"

namespace dualgap {

/// Is every value finite, and small enough that sums of squares are too?
bool all_fit(const AnyRows& rows, Team& team);

struct PatternFacts {
  bool increasing;  // column numbers rise strictly within each row: no duplicates
};

/// Throws InvalidData where row starts or column numbers point outside the arrays.
PatternFacts check_pattern(const Pattern& pattern, Index rows, Index cols, Index entries);

/// Are all of these the same number?
template <class T>
bool all_equal(const T* values, Index count) {
  constexpr Index many = 64;  // compared without a branch: wide instructions
  Index k = 0;
  for (; k + many <= count; k += many) {
    int others = 0;
    for (Index j = k; j < k + many; ++j) others |= !(values[j] == values[0]);
    if (others) return false;
  }
  for (; k < count; ++k)
    if (!(values[k] == values[0])) return false;
  return count > 0;
}

}  // namespace dualgap
