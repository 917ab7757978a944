// One number for every row, copied by all threads.
#pragma once

#include <algorithm>
#include <vector>

#include "base/blocks.hpp"
#include "base/team.hpp"

namespace dualgap {

inline void copy(Team& team, const std::vector<double>& from, std::vector<double>& to) {
  to.resize(from.size());
  const Blocks blocks(static_cast<Index>(from.size()), 16384);
  team.for_each(blocks.count, [&](Index k) {
    std::copy(from.begin() + blocks.begin(k), from.begin() + blocks.end(k), to.begin() + blocks.begin(k));
  });
}

}  // namespace dualgap
