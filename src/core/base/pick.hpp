// Choosing among many by all threads, in order: the same list for every number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "base/blocks.hpp"
#include "base/team.hpp"

namespace dualgap {

/// each(block, take) calls take(i, whether) for the numbers of a block, at most its length; those taken, in order.
template <class Each>
std::vector<std::uint32_t> pick(Team& team, const Blocks& blocks, Each each) {
  const auto found = std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(blocks.n));
  std::vector<Index> counts(static_cast<std::size_t>(blocks.count));
  team.for_each(blocks.count, [&](Index k) {
    std::uint32_t* list = found.get() + blocks.begin(k);
    Index count = 0;
    each(k, [&](Index i, bool whether) {
      list[count] = static_cast<std::uint32_t>(i);
      count += whether;  // without a branch: who is in is chance
    });
    counts[k] = count;
  });
  std::vector<std::uint32_t> all;
  all.reserve(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Index{0})));
  for (Index k = 0; k < blocks.count; ++k) {
    const std::uint32_t* first = found.get() + blocks.begin(k);
    all.insert(all.end(), first, first + counts[k]);
  }
  return all;
}

}  // namespace dualgap
