#include "rows/check.hpp"

#include <string>

#include "base/errors.hpp"

namespace dualgap {

bool all_finite(const AnyRows& rows) {
  return std::visit(
      [](const auto& r) {
        for (Index i = 0; i < r.rows(); ++i) {
          double zero[4] = {};  // x·0 is 0 for a finite x and NaN otherwise
          r.view(i, [&](const auto& row) {
            Index k = 0;
            for (; k + 4 <= row.size; k += 4)
              for (int lane = 0; lane < 4; ++lane) zero[lane] += row.value(k + lane) * 0.0;
            for (; k < row.size; ++k) zero[0] += row.value(k) * 0.0;
          });
          if (!(zero[0] + zero[1] + zero[2] + zero[3] == 0.0)) return false;
        }
        return true;
      },
      rows);
}

PatternFacts check_pattern(const Pattern& pattern, Index rows, Index cols, Index entries) {
  if (pattern.start(0) != 0) throw InvalidData("indptr starts at " + std::to_string(pattern.start(0)) + ", not at 0.");
  for (Index i = 0; i < rows; ++i)
    if (pattern.start(i + 1) < pattern.start(i))
      throw InvalidData("indptr falls after row " + std::to_string(i) + ": row starts must not decrease.");
  if (pattern.start(rows) > entries)
    throw InvalidData("indptr ends at " + std::to_string(pattern.start(rows)) + " but there are " +
                      std::to_string(entries) + " entries.");
  PatternFacts facts{true};
  for (Index i = 0; i < rows; ++i) {
    Index before = -1, low = 0, high = -1;
    bool rising = true;
    for (Index k = pattern.start(i); k < pattern.end(i); ++k) {  // no branches: nearly every row is in order
      const Index j = pattern.column(k);
      low = std::min(low, j);
      high = std::max(high, j);
      rising &= j > before;
      before = j;
    }
    if (low < 0 || high >= cols)
      throw InvalidData("column index " + std::to_string(low < 0 ? low : high) + " in row " + std::to_string(i) +
                        " is outside [0, " + std::to_string(cols) + ").");
    facts.increasing &= rising;
  }
  return facts;
}

}  // namespace dualgap
