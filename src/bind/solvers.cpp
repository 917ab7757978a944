// Solvers: options in, answer out.
#include <map>

#include "blas.hpp"
#include "common.hpp"
#include "passes/passes.hpp"
#include "solvers/dcd.hpp"
#include "solvers/newton.hpp"
#include "solvers/sdca.hpp"

namespace dualgap::bind {

namespace {

DescentOptions::Order order_from(const std::string& name) {
  using Order = DescentOptions::Order;
  return name == "cyclic" ? Order::cyclic : name == "random" ? Order::random : Order::permuted;
}

DescentOptions::Begin begin_from(const std::string& name) {
  return name == "sgd" ? DescentOptions::Begin::sgd : DescentOptions::Begin::zero;
}

nb::dict run_dcd(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta, double b,
                 const std::string& order, const std::string& begin, bool shrinking, const std::string& stopping,
                 double kkt_tolerance, double patience, double least_epochs, std::uint64_t seed) {
  DcdOptions options;
  options.order = order_from(order);
  options.begin = begin_from(begin);
  options.stopping = stopping == "kkt" ? DcdOptions::Stopping::kkt : DcdOptions::Stopping::gap;
  options.shrinking = shrinking;
  options.seed = seed;
  options.kkt_tolerance = kkt_tolerance;
  options.patience = patience;
  options.least_epochs = least_epochs;
  Answer answer = start_from(beta, std::nullopt, b);
  unlocked(control, [&](Control& c) { dcd(problem.problem, answer, options, c); });
  return to_dict(answer);
}

nb::dict run_sdca(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
                  const std::string& order, const std::string& begin, const std::string& output, std::uint64_t seed) {
  using Output = DescentOptions::Output;
  SdcaOptions options;
  options.order = order_from(order);
  options.begin = begin_from(begin);
  options.output = output == "average" ? Output::average : output == "random" ? Output::random : Output::last;
  options.seed = seed;
  Answer answer = start_from(beta, std::nullopt, 0.0);
  unlocked(control, [&](Control& c) { sdca(problem.problem, answer, options, c); });
  return to_dict(answer);
}

nb::dict run_newton(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
                    const std::optional<InVector>& w, double b, double memory, double q, double shrink, double inner,
                    bool sampling) {
  NewtonOptions options;
  options.memory = memory;
  options.q = q;
  options.shrink = shrink;
  options.inner = inner;
  options.sampling = sampling;
  const Blas& blas = scipy_blas();
  Answer answer = start_from(beta, w, b);
  unlocked(control, [&](Control& c) { newton(problem.problem, answer, options, blas, c); });
  return to_dict(answer);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  m.def("dcd", &run_dcd, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("b"), nb::arg("order"),
        nb::arg("begin"), nb::arg("shrinking"), nb::arg("stopping"), nb::arg("kkt_tolerance"), nb::arg("patience"),
        nb::arg("least_epochs"), nb::arg("seed"));
  m.def("newton", &run_newton, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("w").none(),
        nb::arg("b"), nb::arg("memory"), nb::arg("q"), nb::arg("shrink"), nb::arg("inner"), nb::arg("sampling"));
  m.def(
      "newton_is_wide",
      [](const BoundProblem& problem, double memory) { return newton_is_wide(problem.problem, memory); },
      nb::arg("problem"), nb::arg("memory"));
  m.def(
      "newton_matrices", [](const BoundProblem& problem) { return newton_matrices(problem.problem); },
      nb::arg("problem"));
  m.def(
      "newton_samples", [](const BoundProblem& problem) { return newton_samples(problem.problem); },
      nb::arg("problem"));
  m.def("packs_rows", [](const BoundProblem& problem) { return packs_rows(problem.problem.rows); }, nb::arg("problem"));
  m.def("sdca", &run_sdca, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("order"),
        nb::arg("begin"), nb::arg("output"), nb::arg("seed"));
}

}  // namespace dualgap::bind
