// Choosing among many by all threads, in order: the same list for every number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/blocks.hpp"
#include "base/row_vector.hpp"
#include "base/team.hpp"

namespace dualgap {

/// each(block, take) calls take(i, whether) for the numbers of a block, at most its length; those taken, in order.
template <class Each>
RowNumbers pick(Team& team, const Blocks& blocks, Each each) {
  RowNumbers found(static_cast<std::size_t>(blocks.n));
  std::vector<Index> ends(static_cast<std::size_t>(blocks.count + 1));
  team.for_each(blocks.count, [&](Index k) {
    std::uint32_t* list = found.data() + blocks.begin(k);
    Index count = 0;
    each(k, [&](Index i, bool whether) {
      list[count] = static_cast<std::uint32_t>(i);
      count += whether;  // without a branch: who is in is chance
    });
    ends[k + 1] = count;
  });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  RowNumbers all(static_cast<std::size_t>(ends.back()));
  team.for_each(blocks.count, [&](Index k) {
    std::copy_n(found.begin() + blocks.begin(k), ends[k + 1] - ends[k], all.begin() + ends[k]);
  });
  return all;
}

}  // namespace dualgap
