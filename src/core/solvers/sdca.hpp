#pragma once

#include "solvers/descent.hpp"

namespace dualgap {

struct SdcaOptions {
  DescentOptions::Order order = DescentOptions::Order::permuted;  // or random: with replacement
  DescentOptions::Begin begin = DescentOptions::Begin::zero;
  DescentOptions::Output output = DescentOptions::Output::last;
  std::uint64_t seed = 0;
};

/// Stochastic dual coordinate ascent from `answer.beta` (empty: zero).
void sdca(const Problem& problem, Answer& answer, const SdcaOptions& options, Control& control);

}  // namespace dualgap
