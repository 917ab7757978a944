// Primal methods: options in, answer out; and the passes that methods written in Python use.
#include "common.hpp"
#include "passes/passes.hpp"
#include "solvers/pcd.hpp"
#include "solvers/tron.hpp"

namespace dualgap::bind {

namespace {

nb::dict run_tron(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
                  const std::optional<InVector>& w, double b, double mixing, double forcing) {
  TronOptions options;
  options.mixing = mixing;
  options.forcing = forcing;
  Answer answer = start_from(beta, w, b);
  unlocked(control, [&](Control& c) { tron(problem.problem, answer, options, c); });
  return to_dict(answer);
}

nb::dict run_pcd(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
                 const std::optional<InVector>& w, double b, std::uint64_t seed) {
  Answer answer = start_from(beta, w, b);
  unlocked(control, [&](Control& c) { pcd(problem.problem, answer, {seed}, c); });
  return to_dict(answer);
}

OutVector scores(const BoundProblem& problem, BoundControl& control, const InVector& w) {
  std::vector<double> z(problem.problem.n());
  unlocked(control, [&](Control& c) { Passes(problem.problem.rows, c.team).scores(view(w), 0.0, z); });
  return to_numpy(std::move(z));
}

OutVector combination(const BoundProblem& problem, BoundControl& control, const InVector& beta) {
  std::vector<double> v(problem.problem.p());
  unlocked(control, [&](Control& c) { Passes(problem.problem.rows, c.team).combination(view(beta), v); });
  return to_numpy(std::move(v));
}

}  // namespace

void bind_primal(nb::module_& m) {
  m.def("tron", &run_tron, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("w").none(),
        nb::arg("b"), nb::arg("mixing"), nb::arg("forcing"));
  m.def("pcd", &run_pcd, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("w").none(),
        nb::arg("b"), nb::arg("seed"));
  m.def("scores", &scores);
  m.def("combination", &combination);
}

}  // namespace dualgap::bind
