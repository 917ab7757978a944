#include "rows/check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "base/blocks.hpp"
#include "base/errors.hpp"

namespace dualgap {

namespace {

constexpr double stretch = 1e168;  // beyond 1.8e140 times this is infinite

bool has_room(double x) { return std::isfinite(x * stretch); }

/// The same of the values from `first` up to `end`: y·0 is 0 for a finite y and NaN otherwise.
template <class At>
bool fitting_run(Index first, Index end, At at) {
  double zero[8] = {};
  Index k = first;
  for (; k + 8 <= end; k += 8)
    for (int lane = 0; lane < 8; ++lane) zero[lane] += at(k + lane) * stretch * 0.0;
  for (; k < end; ++k) zero[0] += at(k) * stretch * 0.0;
  double sum = 0;
  for (const double z : zero) sum += z;
  return sum == 0.0;
}

/// The same for the rows [begin, end).
template <class T>
bool fitting_rows(const CsrRows<StoredValues<T>>& rows, Index begin, Index end) {
  const Pattern& pattern = rows.pattern();
  return begin == end ||
         fitting_run(pattern.start(begin), pattern.end(end - 1), [&](Index k) { return rows.values().at(k); });
}
bool fitting_rows(const CsrRows<EqualValues>& rows, Index, Index) { return has_room(rows.values().value); }

template <class Rows>
bool fitting_rows(const Rows& rows, Index begin, Index end) {
  bool fit = true;
  for (Index i = begin; i < end && fit; ++i)
    rows.view(i, [&](const auto& row) { fit = fitting_run(0, row.size, [&](Index k) { return row.value(k); }); });
  return fit;
}

/// Does every index exceed the one before? Without branches inside: nearly every row is in order.
template <class I>
bool is_rising(const I* index, Index size) {
  I falls = 0;
  for (Index k = 1; k < size; ++k) falls |= static_cast<I>(index[k] <= index[k - 1]);
  return falls == 0;
}

/// Are all indices inside, and do they fall only from one row to the next? Counted over all entries at once: the
/// processor cannot foresee where short rows end.
template <class I>
bool is_tidy(const I* index, const Pattern& pattern, Index rows, Index cols) {
  const Index entries = pattern.start(rows);
  if (entries < 2) return entries == 0;
  Index falls = 0, between = 0;
  for (Index chunk = 1; chunk < entries; chunk += 4096) {
    I count = 0;  // as wide as the indices: the comparison fills whole registers
    for (Index k = chunk; k < std::min(chunk + 4096, entries); ++k) count += static_cast<I>(index[k] <= index[k - 1]);
    falls += count;
  }
  bool inside = true;
  for (Index i = 0; i < rows; ++i) {
    const Index first = pattern.start(i), end = pattern.end(i), at = std::clamp<Index>(first, 1, entries - 1);
    const bool filled = first < end;
    between += (first == at) & filled & (index[at] <= index[at - 1]);
    inside &= (!filled) | ((index[filled ? first : 0] >= 0) & (index[filled ? end - 1 : 0] < cols));
  }
  return inside && falls == between;
}

}  // namespace

bool all_fit(const AnyRows& rows, Team& team) {
  const Blocks blocks(count_rows(rows), count_rows(rows) / Blocks::most);
  std::atomic<bool> fit = true;
  team.for_each(blocks.count, [&](Index k) {
    if (fit && !std::visit([&](const auto& r) { return fitting_rows(r, blocks.begin(k), blocks.end(k)); }, rows))
      fit = false;
  });
  return fit;
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
  if (pattern.wide_indices ? is_tidy(pattern.wide(0), pattern, rows, cols)
                           : is_tidy(pattern.narrow(0), pattern, rows, cols))
    return facts;
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
