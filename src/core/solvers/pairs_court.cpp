// The two ways to the judge that the pair methods take.
#include "solvers/pairs.hpp"

namespace dualgap {

Court kernel_court(const KernelProblem& problem, const char* solver, Control& control, Thresholds& thresholds) {
  return [&problem, solver, &control, &thresholds](Answer& answer, Control::Purpose purpose, Index active,
                                                   std::vector<double>& z) {
    const bool ended = control.stopped();  // then this is the last word, and it is spoken to the end
    control.clock().pause();
    const double began = control.clock().total();
    control.expect_judging(0);
    KernelVerdict verdict =
        judge(problem, answer.beta, control.team, ended ? Patience::to_the_end : Patience::may_leave);
    control.expect_judging(1.2 * (control.clock().total() - began));
    control.clock().resume();
    z = std::move(verdict.z);
    if (z.empty()) return true;
    thresholds = verdict.thresholds;
    answer.b = intercept_of(problem.task, thresholds, verdict.square);
    return control.record(verdict.certificate, solver, answer.epochs, active, {}, answer.b, purpose);
  };
}

Court linear_court(const Problem& problem, const KernelProblem& kernel, const char* solver, Control& control) {
  return [&problem, &kernel, solver, &control](Answer& answer, Control::Purpose purpose, Index active,
                                               std::vector<double>& z) {
    control.clock().pause();
    make_feasible(problem, answer.beta);
    answer.w.assign(problem.p(), 0.0);
    z.resize(problem.n());
    std::visit(
        [&](const auto& rows) {
          for (Index i = 0; i < rows.rows(); ++i)
            if (answer.beta[i] != 0) rows.add(i, answer.beta[i], answer.w.data());
          for (Index i = 0; i < rows.rows(); ++i) z[i] = rows.dot(i, answer.w.data());
        },
        problem.rows);
    answer.b = best_intercept(kernel, z, answer.beta);
    control.clock().resume();
    return control.ask(problem, solver, answer.epochs, active, answer.w, answer.b, answer.beta, purpose);
  };
}

}  // namespace dualgap
