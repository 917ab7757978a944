// Solvers: options in, answer out.
#include <map>

#include "common.hpp"
#include "solvers/dcd.hpp"

namespace dualgap::bind {

namespace {

nb::dict run_dcd(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta, double b,
                 const std::string& order, bool shrinking, const std::string& stopping, double kkt_tolerance,
                 double patience, std::uint64_t seed) {
  DcdOptions options;
  using Order = DcdOptions::Order;
  options.order = order == "cyclic" ? Order::cyclic : order == "random" ? Order::random : Order::permuted;
  options.stopping = stopping == "kkt" ? DcdOptions::Stopping::kkt : DcdOptions::Stopping::gap;
  options.shrinking = shrinking;
  options.seed = seed;
  options.kkt_tolerance = kkt_tolerance;
  options.patience = patience;
  Answer answer = start_from(beta, std::nullopt, b);
  unlocked(control, [&](Control& c) { dcd(problem.problem, answer, options, c); });
  return to_dict(answer);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  m.def("dcd", &run_dcd, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("b"), nb::arg("order"),
        nb::arg("shrinking"), nb::arg("stopping"), nb::arg("kkt_tolerance"), nb::arg("patience"), nb::arg("seed"));
}

}  // namespace dualgap::bind
