#pragma once

#include <cstdint>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct DcdOptions {
  enum class Order { cyclic, permuted, random } order = Order::permuted;
  enum class Stopping { gap, kkt } stopping = Stopping::gap;
  bool shrinking = true;
  std::uint64_t seed = 0;
  double kkt_tolerance = 0.1;  // for Stopping::kkt: largest projected gradient left, LIBLINEAR's -e
  double patience = infinity;  // give the point back when more epochs than this seem to be needed
};

/// Dual coordinate descent from `answer.beta` (empty: zero).
void dcd(const Problem& problem, Answer& answer, const DcdOptions& options, Control& control);

}  // namespace dualgap
