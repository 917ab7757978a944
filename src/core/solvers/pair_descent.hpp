// The engine of two-variable descent, one loop for all whose dual has a sum to keep: pair-dcd, oneclass-dcd, svdd-dcd.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct PairDescentOptions {
  const char* name = "pair-dcd";  // who asks, for the trace
  /// cyclic: every pair in turn, by a shift along one permutation; random: both drawn; greedy: a row that wants up at
  /// the present price meets the waiting row that wants down most.
  enum class Choice { cyclic, random, greedy } choice = Choice::greedy;
  bool shrinking = true;
  std::uint64_t seed = 0;
  std::vector<std::uint32_t> first;  // the rows to begin with, where it is known who matters; empty: all
};

/// Pair descent from `answer.beta` (empty: zero), made feasible first, and from the price `answer.b`.
void descend_pairs(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control);

}  // namespace dualgap
