// The end of a short loop without a branch. A sum over n ≥ 8 entries goes eight at a time; the last eight entries are
// then taken once more, those that were in already times zero. Where rows have few entries and each another number, the
// processor cannot foresee a loop over the rest, and a wrong guess costs as much as the row.
#pragma once

namespace dualgap {

/// at[r]: eight factors of which the last r are one and the others zero.
struct Tail {
  double at[8][8];
  constexpr Tail() : at{} {
    for (int r = 0; r < 8; ++r)
      for (int k = 8 - r; k < 8; ++k) at[r][k] = 1.0;
  }
};
static constexpr Tail tail_factors;  // no inline variable: a level of instructions must not define weak symbols

}  // namespace dualgap
