// What goes into a solver and what comes out: a point, and how much work it took.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace dualgap {

struct Answer {
  std::vector<double> w;
  double b = 0;
  std::vector<double> beta;
  double epochs = 0;     // passes' worth of row operations
  Index iterations = 0;  // epochs or outer iterations, as the method counts
  bool judged = false;   // control.certificate() speaks of this point
};

}  // namespace dualgap
