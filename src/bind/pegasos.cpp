#include "solvers/pegasos.hpp"

#include "common.hpp"

namespace dualgap::bind {

namespace {

nb::dict run_pegasos(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& w, double b,
                     const std::string& order, const std::string& average, Index batch, bool projection, double steps,
                     std::uint64_t seed) {
  using Average = PegasosOptions::Average;
  PegasosOptions options;
  options.order = order == "random" ? PegasosOptions::Order::random : PegasosOptions::Order::permuted;
  options.average = average == "none" ? Average::none : average == "all" ? Average::all : Average::suffix;
  options.batch = batch;
  options.projection = projection;
  options.steps = steps;
  options.seed = seed;
  Answer answer = start_from(std::nullopt, w, b);
  unlocked(control, [&](Control& c) { pegasos(problem.problem, answer, options, c); });
  return to_dict(answer);
}

}  // namespace

void bind_pegasos(nb::module_& m) {
  m.def("pegasos", &run_pegasos, nb::arg("problem"), nb::arg("control"), nb::arg("w").none(), nb::arg("b"),
        nb::arg("order"), nb::arg("average"), nb::arg("batch"), nb::arg("projection"), nb::arg("steps"),
        nb::arg("seed"));
}

}  // namespace dualgap::bind
