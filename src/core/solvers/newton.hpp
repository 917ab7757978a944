#pragma once

#include "base/blas.hpp"
#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap {

struct NewtonOptions {
  double memory = 2e9;   // bytes that a d × d matrix may take; beyond: newton_system.hpp
  double q = 0;          // first smoothing; 0: chosen from the data
  double shrink = 2.5;   // q is divided by this at each outer step
  double inner = 0.3;    // an inner problem is solved to this part of the gap
  bool sampling = true;  // start on samples of the rows
  Index max_steps = 100000;
};

/// Proximal Newton from (answer.w, answer.b, answer.beta), each empty or zero where nothing is known.
void newton(const Problem& problem, Answer& answer, const NewtonOptions& options, const Blas& blas, Control& control);

/// Will its steps do without a matrix over the columns?
bool newton_is_wide(const Problem& problem, double memory);
/// Are rows so many that it starts on a sample of them?
bool newton_samples(const Problem& problem);
/// Bytes for its matrices over the columns, given all the memory that they can use.
double newton_matrices(const Problem& problem);

}  // namespace dualgap
