// Marshalling that every part of the binding uses.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "problem/problem.hpp"
#include "solvers/answer.hpp"
#include "solvers/control.hpp"

namespace dualgap::bind {

namespace nb = nanobind;
using InVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutVector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

/// Hands a vector's memory to NumPy without copying it.
inline OutVector to_numpy(std::vector<double> values) {
  auto* owner = new std::vector<double>(std::move(values));
  const nb::capsule keep(owner, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return OutVector(owner->data(), {owner->size()}, keep);
}
inline ConstVector view(const InVector& a) { return {a.data(), a.size()}; }
inline std::vector<double> copy(const InVector& a) { return {a.data(), a.data() + a.size()}; }

/// A matrix of the user's, used in place: the C++ view and the arrays it looks into.
struct Matrix {
  AnyRows rows;
  std::vector<nb::object> keep;
  std::string storage;
  bool increasing = true;
};

/// A problem and the arrays it looks into.
struct BoundProblem {
  Problem problem;
  nb::object keep;
};

/// A control whose callbacks may raise; what they raised is raised again when the solver has returned.
struct BoundControl {
  std::unique_ptr<Control> control;
  nb::object callback, give_up;  // give_up() is asked now and then where nobody can send Ctrl-C: in worker threads
  std::exception_ptr error;
  void rethrow() {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
};

/// Runs a solver without the interpreter's lock.
template <class F>
void unlocked(BoundControl& control, F f) {
  {
    const nb::gil_scoped_release release;
    f(*control.control);
  }
  control.rethrow();
}

/// Where a solver begins.
inline Answer start_from(const std::optional<InVector>& beta, const std::optional<InVector>& w, double b) {
  Answer answer;
  if (beta) answer.beta = copy(*beta);
  if (w) answer.w = copy(*w);
  answer.b = b;
  return answer;
}

/// Where it ended, as dualgap.solvers.Answer takes it.
inline nb::dict to_dict(Answer& answer) {
  nb::dict d;
  d["coef"] = to_numpy(std::move(answer.w));
  d["intercept"] = answer.b;
  d["dual"] = to_numpy(std::move(answer.beta));
  d["epochs"] = answer.epochs;
  d["n_iter"] = answer.iterations;
  d["judged"] = answer.judged;
  return d;
}

void bind_data(nb::module_& m);
void bind_control(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_text(nb::module_& m);
void bind_primal(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_pegasos(nb::module_& m);

}  // namespace dualgap::bind
