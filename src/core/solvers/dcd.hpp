#pragma once

#include "solvers/descent.hpp"

namespace dualgap {

using DcdOptions = DescentOptions;

/// Dual coordinate descent from `answer.beta` (empty: zero).
void dcd(const Problem& problem, Answer& answer, const DcdOptions& options, Control& control);

}  // namespace dualgap
