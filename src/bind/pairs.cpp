// Two-variable descent: pair-dcd, and the one-class problems.
#include "common.hpp"
#include "solvers/oneclass_dcd.hpp"
#include "solvers/pair_dcd.hpp"
#include "solvers/svdd_dcd.hpp"

namespace dualgap::bind {

namespace {

using Engine = void (*)(const Problem&, Answer&, const PairDescentOptions&, Control&);

template <Engine engine>
nb::dict run(const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta, double b,
             const std::string& name, const std::string& pairs, bool shrinking, std::uint64_t seed) {
  using Choice = PairDescentOptions::Choice;
  PairDescentOptions options;
  options.name = name.c_str();
  options.choice = pairs == "cyclic" ? Choice::cyclic : pairs == "random" ? Choice::random : Choice::greedy;
  options.shrinking = shrinking;
  options.seed = seed;
  Answer answer = start_from(beta, std::nullopt, b);
  unlocked(control, [&](Control& c) { engine(problem.problem, answer, options, c); });
  return to_dict(answer);
}

template <Engine engine>
void define(nb::module_& m, const char* name) {
  m.def(name, &run<engine>, nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("b"),
        nb::arg("name"), nb::arg("pairs"), nb::arg("shrinking"), nb::arg("seed"));
}

/// P = ½‖w‖² + b + Σ c max(0, yᵢ − xᵢᵀw − b): targets 0 are the one-class problem, ½‖xᵢ‖² the ball's.
BoundProblem one_class_problem(const nb::object& matrix, const InVector& y, double c, double floor, double unit) {
  nb::list keep;
  keep.append(matrix);
  keep.append(nb::cast(y));
  const AnyRows& rows = nb::cast<const Matrix&>(matrix).rows;
  return {{rows, view(y), nullptr, c, Pinball{1.0}, Intercept::free, 1.0, 1.0, floor, unit}, keep};
}

OutVector squared_norms(const Matrix& matrix) {
  std::vector<double> norms(count_rows(matrix.rows));
  {
    const nb::gil_scoped_release release;
    std::visit(
        [&](const auto& rows) {
          for (Index i = 0; i < rows.rows(); ++i) norms[i] = squared_norm(rows, i);
        },
        matrix.rows);
  }
  return to_numpy(std::move(norms));
}

}  // namespace

void bind_pairs(nb::module_& m) {
  define<pair_dcd>(m, "pair_dcd");
  define<oneclass_dcd>(m, "oneclass_dcd");
  define<svdd_dcd>(m, "svdd_dcd");
  m.def("one_class_problem", &one_class_problem);
  m.def("squared_norms", &squared_norms);
}

}  // namespace dualgap::bind
