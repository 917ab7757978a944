// The problem on a sample of its rows: where Newton starts when rows are many.
#pragma once

#include <vector>

#include "problem/problem.hpp"

namespace dualgap {

/// Their costs are multiplied by the sample's step, so that the sum of losses is an estimate of the whole.
class Thinned {
 public:
  Thinned(const Problem& whole, Sample sample) : problem_(whole) {
    problem_.rows = thinned(whole.rows, sample);
    problem_.C *= static_cast<double>(sample.step());
    y_.reserve(whole.n() / sample.step());
    for (Index i = 0; i < whole.n() / sample.step(); ++i) {
      y_.push_back(whole.y[sample(i)]);
      if (whole.weight) weight_.push_back(whole.weight[sample(i)]);
    }
    problem_.y = y_;
    if (whole.weight) problem_.weight = weight_.data();
  }
  Thinned(const Thinned&) = delete;
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  std::vector<double> y_, weight_;
};

}  // namespace dualgap
