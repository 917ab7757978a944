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

/// Does every index exceed the one before? Without branches inside: nearly every row is in order.
template <class I>
static bool is_rising(const I* index, Index size) {
  I falls = 0;
  for (Index k = 1; k < size; ++k) falls |= static_cast<I>(index[k] <= index[k - 1]);
  return falls == 0;
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
    const Index first = pattern.start(i), size = pattern.end(i) - first;
    if (size == 0) continue;
    const bool rising =
        pattern.wide_indices ? is_rising(pattern.wide(first), size) : is_rising(pattern.narrow(first), size);
    Index low = pattern.column(first), high = pattern.column(first + size - 1);
    for (Index k = first; k < first + size && !rising; ++k) {
      low = std::min(low, pattern.column(k));
      high = std::max(high, pattern.column(k));
    }
    if (low < 0 || high >= cols)
      throw InvalidData("column index " + std::to_string(low < 0 ? low : high) + " in row " + std::to_string(i) +
                        " is outside [0, " + std::to_string(cols) + ").");
    facts.increasing &= rising;
  }
  return facts;
}

}  // namespace dualgap
