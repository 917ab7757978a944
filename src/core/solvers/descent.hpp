// The engine of dual coordinate descent, one loop for all who descend: dcd and sdca differ in what they ask of it.
#pragma once

#include <cstdint>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct DescentOptions {
  const char* name = "dcd";  // who asks, for the trace
  enum class Order { cyclic, permuted, random } order = Order::permuted;
  enum class Stopping { gap, kkt } stopping = Stopping::gap;
  /// How to begin where no β is given: at zero, or with an epoch of modified stochastic gradient steps.
  enum class Begin { zero, sgd } begin = Begin::zero;
  /// What to hand out. `better`: the last β with the averaged or the last w, whichever has the smaller gap on a sample
  /// of rows. The others are one moment for w and β alike: the last, the average with weights rising as k³, or one
  /// drawn with those weights.
  enum class Output { better, last, average, random } output = Output::better;
  bool shrinking = true;
  std::uint64_t seed = 0;
  double kkt_tolerance = 0.1;  // for Stopping::kkt: largest projected gradient left, LIBLINEAR's -e
  double patience = infinity;  // give the point back when more epochs than this seem to be needed,
  double least_epochs = 0;     // though not before so many
};

/// Dual coordinate descent from `answer.beta` (empty: zero).
void descend(const Problem& problem, Answer& answer, const DescentOptions& options, Control& control);

}  // namespace dualgap
