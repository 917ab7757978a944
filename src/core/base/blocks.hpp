// A fixed cut of the rows into blocks: it depends on the shape of the data alone, never on the number of threads.
#pragma once

#include <algorithm>

#include "base/types.hpp"

namespace dualgap {

struct Blocks {
  Index n, count;
  static constexpr Index most = 64;
  /// At most so many, and so few that adding up a p-vector for each is small beside reading the entries: a block has at
  /// least `share` of them for every column. The judge reads each row twice, with plain instructions: it can have more.
  static constexpr Index solver_share = 16, judge_share = 6;
  /// Rows of a block where each costs a few instructions: some microseconds of work.
  static constexpr Index light = 2048;
  Blocks(Index rows, Index entries, Index cols, Index share)
      : n(rows), count(std::clamp<Index>(entries / (share * std::max<Index>(cols, 1)), 1, most)) {}
  /// Blocks of about `length` rows.
  Blocks(Index rows, Index length) : n(rows), count(std::max<Index>(1, rows / std::max<Index>(length, 1))) {}

  Index begin(Index block) const { return n * block / count; }
  Index end(Index block) const { return n * (block + 1) / count; }
};

}  // namespace dualgap
