// Kernel problems, their judge, their scores, and the pair methods.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "base/errors.hpp"
#include "base/stopwatch.hpp"
#include "blas.hpp"
#include "common.hpp"
#include "judge/kernel_judge.hpp"
#include "mercer/scores.hpp"
#include "solvers/decomposition.hpp"
#include "solvers/smo.hpp"

namespace dualgap::bind {

namespace {

using Ids = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutColumns = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::f_contig>;

Kernel make_kernel(const std::string& name, double gamma, double coef0, int degree) {
  using Shape = Kernel::Shape;
  constexpr std::pair<const char*, Shape> shapes[] = {
      {"linear", Shape::linear},          {"poly", Shape::poly},           {"rbf", Shape::rbf},
      {"sigmoid", Shape::sigmoid},        {"laplacian", Shape::laplacian}, {"chi2", Shape::chi2},
      {"precomputed", Shape::precomputed}};
  for (const auto& [known, shape] : shapes)
    if (name == known) return {shape, gamma, coef0, degree};
  throw InvalidData("Unknown kernel '" + name + "'.");
}

/// A kernel problem and the arrays it looks into.
struct BoundKernelProblem {
  KernelProblem problem;
  nb::object keep;
};

KernelProblem::Task task_from(const std::string& name) {
  using Task = KernelProblem::Task;
  constexpr std::pair<const char*, Task> tasks[] = {{"loss", Task::loss},
                                                    {"one_class", Task::one_class},
                                                    {"svdd", Task::svdd},
                                                    {"nu_svc", Task::nu_svc},
                                                    {"nu_svr", Task::nu_svr}};
  for (const auto& [known, task] : tasks)
    if (name == known) return task;
  throw InvalidData("Unknown task '" + name + "'.");
}

void make_kernel_problem(BoundKernelProblem* self, const nb::object& matrix, const Ids& ids, const Kernel& kernel,
                         const InVector& y, const std::optional<InVector>& weight, double C, const std::string& task,
                         const std::string& loss, double parameter, double total, const nb::object& shared) {
  const auto made = make_loss(loss, parameter);
  if (!made) throw InvalidData("Unknown loss '" + loss + "'.");
  nb::list keep;
  keep.append(matrix);
  keep.append(nb::cast(y));
  keep.append(shared);
  if (weight) keep.append(nb::cast(*weight));
  new (self) BoundKernelProblem{{nb::cast<const Matrix&>(matrix).rows, Places(ids.data(), ids.data() + ids.size()),
                                 kernel, &scipy_blas(), view(y), weight ? weight->data() : nullptr, C, task_from(task),
                                 *made, total, shared.is_none() ? nullptr : nb::cast<SharedRows*>(shared)},
                                keep};
}

KernelProblem linear_kernel(const Problem& problem) {
  Places ids(problem.n());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::uint32_t>(i);
  return {problem.rows, ids, Kernel{}, &scipy_blas(), problem.y, problem.weight, problem.C, KernelProblem::Task::loss,
          problem.loss, 0.0};
}

/// Runs a pair method on a kernel problem.
template <class Method>
nb::dict on_kernel(const BoundKernelProblem& bound, BoundControl& control, const std::optional<InVector>& beta,
                   const char* name, Method method) {
  Answer answer = start_from(beta, std::nullopt, 0.0);
  Thresholds thresholds;
  unlocked(control,
           [&](Control& c) { method(bound.problem, answer, kernel_court(bound.problem, name, c, thresholds), c); });
  nb::dict d = to_dict(answer);
  d["threshold"] = threshold_of(bound.problem.task, thresholds);
  return d;
}

/// Runs it on a linear problem.
template <class Method>
nb::dict on_linear(const BoundProblem& bound, BoundControl& control, const std::optional<InVector>& beta,
                   const char* name, Method method) {
  Answer answer = start_from(beta, std::nullopt, 0.0);
  const KernelProblem problem = linear_kernel(bound.problem);
  unlocked(control, [&](Control& c) { method(problem, answer, linear_court(bound.problem, problem, name, c), c); });
  return to_dict(answer);
}

auto smo_with(const std::string& selection, bool shrinking, double cache_bytes, bool precomputed) {
  SmoOptions options{{cache_bytes, shrinking, precomputed}};
  options.selection =
      selection == "most-violating" ? SmoOptions::Selection::most_violating : SmoOptions::Selection::second_order;
  return [options](const KernelProblem& problem, Answer& answer, const Court& court, Control& control) {
    smo(problem, answer, options, court, control);
  };
}

auto decomposition_with(Index working_set, bool shrinking, double cache_bytes, bool precomputed) {
  const DecompositionOptions options{{cache_bytes, shrinking, precomputed}, working_set};
  return [options](const KernelProblem& problem, Answer& answer, const Court& court, Control& control) {
    decomposition(problem, answer, options, court, control);
  };
}

nb::tuple judged(const BoundKernelProblem& bound, nb::ndarray<double, nb::ndim<1>, nb::c_contig> beta, int threads,
                 std::optional<double> b) {
  Team team(threads);
  KernelVerdict verdict;
  {
    const nb::gil_scoped_release release;
    verdict = judge(bound.problem, {beta.data(), beta.size()}, team, Patience::to_the_end, b ? &*b : nullptr);
  }
  return nb::make_tuple(verdict.certificate, verdict.thresholds.first, verdict.thresholds.second);
}

OutColumns scores(const Matrix& rows, const Matrix& support, const Ids& support_ids, const Kernel& kernel,
                  nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu> coef,
                  const std::vector<std::pair<Index, Index>>& ranges, int threads) {
  const Index n = count_rows(rows.rows), width = static_cast<Index>(coef.shape(1)),
              outputs = width * static_cast<Index>(ranges.size());
  Places ids(n);
  for (Index i = 0; i < n; ++i) ids[i] = static_cast<std::uint32_t>(i);
  auto* values = new std::vector<double>(n * outputs);
  const nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  std::exception_ptr error;
  bool done = false;
  {
    const nb::gil_scoped_release release;
    Team team(threads);
    Stopwatch clock;
    team.between = [&error, &clock, last = 0.0]() mutable {
      if (error || clock.total() - last < 0.02) return error != nullptr;
      last = clock.total();
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) return false;
      try {
        throw nb::python_error();
      } catch (...) {
        error = std::current_exception();
      }
      return true;
    };
    done = kernel_scores(kernel, rows.rows, ids, support.rows, std::span(support_ids.data(), support_ids.size()),
                         {coef.data(), width, ranges}, values->data(), team, Patience::may_leave);
  }
  if (!done && error) std::rethrow_exception(error);
  return OutColumns(values->data(), {static_cast<std::size_t>(n), static_cast<std::size_t>(outputs)}, owner);
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel")
      .def(
          "__init__",
          [](Kernel* self, const std::string& name, double gamma, double coef0, int degree) {
            new (self) Kernel(make_kernel(name, gamma, coef0, degree));
          },
          nb::arg("name"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"));
  nb::class_<SharedRows>(m, "SharedRows")
      .def(
          "__init__",
          [](SharedRows* self, const Ids& class_of, double bytes) {
            new (self) SharedRows({class_of.data(), class_of.size()}, bytes);
          },
          nb::arg("class_of"), nb::arg("bytes"))
      .def_prop_ro("made", [](const SharedRows& s) { return s.tally().made; })
      .def_prop_ro("taken", [](const SharedRows& s) { return s.tally().taken; })
      .def_prop_ro("most_bytes", [](const SharedRows& s) { return s.tally().most_bytes; });
  nb::class_<BoundKernelProblem>(m, "KernelProblem")
      .def("__init__", &make_kernel_problem, nb::arg("matrix"), nb::arg("ids"), nb::arg("kernel"), nb::arg("y"),
           nb::arg("weight").none(), nb::arg("C"), nb::arg("task"), nb::arg("loss"), nb::arg("parameter"),
           nb::arg("total"), nb::arg("shared").none() = nb::none());
  m.def("judge_kernel", &judged, nb::arg("problem"), nb::arg("beta"), nb::arg("threads"), nb::arg("b").none());
  m.def("kernel_scores", &scores, nb::arg("rows"), nb::arg("support"), nb::arg("support_ids"), nb::arg("kernel"),
        nb::arg("coef"), nb::arg("ranges"), nb::arg("threads"));
  m.def(
      "smo",
      [](const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
         const std::string& selection, bool shrinking, double cache_bytes, bool precomputed) {
        return on_linear(problem, control, beta, "smo", smo_with(selection, shrinking, cache_bytes, precomputed));
      },
      nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("selection"), nb::arg("shrinking"),
      nb::arg("cache_bytes"), nb::arg("precomputed"));
  m.def(
      "smo",
      [](const BoundKernelProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
         const std::string& selection, bool shrinking, double cache_bytes, bool precomputed) {
        return on_kernel(problem, control, beta, "smo", smo_with(selection, shrinking, cache_bytes, precomputed));
      },
      nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("selection"), nb::arg("shrinking"),
      nb::arg("cache_bytes"), nb::arg("precomputed"));
  m.def(
      "decomposition",
      [](const BoundProblem& problem, BoundControl& control, const std::optional<InVector>& beta, Index working_set,
         bool shrinking, double cache_bytes, bool precomputed) {
        return on_linear(problem, control, beta, "decomposition",
                         decomposition_with(working_set, shrinking, cache_bytes, precomputed));
      },
      nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("working_set"), nb::arg("shrinking"),
      nb::arg("cache_bytes"), nb::arg("precomputed"));
  m.def(
      "decomposition",
      [](const BoundKernelProblem& problem, BoundControl& control, const std::optional<InVector>& beta,
         Index working_set, bool shrinking, double cache_bytes, bool precomputed) {
        return on_kernel(problem, control, beta, "decomposition",
                         decomposition_with(working_set, shrinking, cache_bytes, precomputed));
      },
      nb::arg("problem"), nb::arg("control"), nb::arg("beta").none(), nb::arg("working_set"), nb::arg("shrinking"),
      nb::arg("cache_bytes"), nb::arg("precomputed"));
}

}  // namespace dualgap::bind
