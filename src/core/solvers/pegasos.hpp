#pragma once

#include <cstdint>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct PegasosOptions {
  enum class Order { permuted, random } order = Order::permuted;
  /// What to hand out: the last w, the average over all steps, or over those since the last epoch that is a power of 2.
  enum class Average { none, suffix, all } average = Average::suffix;
  Index batch = 1;
  bool projection = true;
  double steps = 0;  // taken before, on other rows of a stream: `answer.w` and `answer.b` are where they ended
  std::uint64_t seed = 0;
};

/// Stochastic subgradient steps; no start but that of a stream.
void pegasos(const Problem& problem, Answer& answer, const PegasosOptions& options, Control& control);

}  // namespace dualgap
