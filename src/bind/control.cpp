// Control for Python: signals, callbacks and budgets; the same object serves loops in C++ and methods written in
// Python.
#include "common.hpp"

namespace dualgap::bind {

namespace {

const char* status_name(Status status) {
  switch (status) {
    case Status::running:
      return "running";
    case Status::optimal:
      return "optimal";
    case Status::max_iter:
      return "max_iter";
    case Status::max_time:
      return "max_time";
    case Status::interrupted:
      return "interrupted";
    case Status::stalled:
      return "stalled";
  }
  return "running";
}

Status status_from(const std::string& name) {
  for (const Status s : {Status::optimal, Status::max_iter, Status::max_time, Status::interrupted, Status::stalled})
    if (name == status_name(s)) return s;
  throw std::invalid_argument("Unknown status '" + name + "'.");
}

/// Raises in the solver's stead: the exception waits in the control until the solver has returned.
template <class F>
bool guarded(BoundControl& bound, F f) {
  const nb::gil_scoped_acquire acquire;
  try {
    return f();
  } catch (...) {
    bound.error = std::current_exception();
    return true;
  }
}

void make_control(BoundControl* self, double tol, double max_time, double max_epochs, int threads, bool trace,
                  const nb::object& callback, const nb::object& give_up) {
  new (self) BoundControl{std::make_unique<Control>(threads), callback, give_up, nullptr};
  Control& control = *self->control;
  control.tol = tol;
  control.max_time = max_time;
  control.max_epochs = max_epochs;
  control.keep_trace = trace;
  control.poll = [self] {
    return guarded(*self, [self] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return !self->give_up.is_none() && nb::cast<bool>(self->give_up());
    });
  };
  if (!callback.is_none())
    control.callback = [self](const Moment& moment, ConstVector w, double b) {
      return guarded(*self, [&] {
        nb::object coef = nb::cast(
            nb::ndarray<nb::numpy, const double, nb::ndim<1>>(w.data(), {w.size()}, nb::handle()), nb::rv_policy::copy);
        coef.attr("setflags")(nb::arg("write") = false);
        return nb::cast<bool>(self->callback(moment, coef, b));
      });
    };
}

}  // namespace

void bind_control(nb::module_& m) {
  nb::class_<Moment>(m, "Moment")
      .def_ro("epoch", &Moment::epoch)
      .def_ro("seconds", &Moment::seconds)
      .def_ro("primal", &Moment::primal)
      .def_ro("dual", &Moment::dual)
      .def_ro("gap", &Moment::gap)
      .def_ro("active", &Moment::active)
      .def_ro("solver", &Moment::solver);
  nb::class_<BoundControl>(m, "Control")
      .def("__init__", &make_control, nb::arg("tol"), nb::arg("max_time"), nb::arg("max_epochs"), nb::arg("threads"),
           nb::arg("trace"), nb::arg("callback").none(), nb::arg("give_up").none() = nb::none())
      .def_prop_ro("status", [](const BoundControl& c) { return status_name(c.control->status()); })
      .def_prop_ro("stopped", [](const BoundControl& c) { return c.control->stopped(); })
      .def_prop_ro("certificate", [](const BoundControl& c) { return c.control->certificate(); })
      .def_prop_ro("watched", [](const BoundControl& c) { return c.control->watched(); })
      .def_prop_ro("seconds", [](const BoundControl& c) { return c.control->clock().total(); })
      .def_prop_ro("tol", [](const BoundControl& c) { return c.control->tol; })
      .def_prop_ro("epochs", [](const BoundControl& c) { return c.control->epochs_before(); })
      .def_prop_ro("trace",
                   [](const BoundControl& c) {
                     nb::list rows;
                     for (const Moment& moment : c.control->trace()) rows.append(nb::cast(moment));
                     return rows;
                   })
      .def("stop", [](BoundControl& c, const std::string& status) { c.control->stop(status_from(status)); })
      .def("over", [](BoundControl& c, double epochs) { return c.control->over(epochs); })
      .def("reopen", [](BoundControl& c) { c.control->reopen(); })
      .def("expect_judging", [](BoundControl& c, double seconds) { c.control->expect_judging(seconds); })
      .def("end_solver", [](BoundControl& c, double epochs) { c.control->end_solver(epochs); })
      .def("look",
           [](BoundControl& c) {
             const bool leave = c.control->look();
             c.rethrow();
             return leave;
           })
      .def(
          "ask",
          [](BoundControl& c, const BoundProblem& problem, const std::string& solver, double epochs, Index active,
             const InVector& w, double b, nb::ndarray<double, nb::ndim<1>, nb::c_contig> beta, bool decide) {
            bool leave = false;
            unlocked(c, [&](Control& control) {
              leave =
                  control.ask(problem.problem, solver.c_str(), epochs, active, view(w), b, {beta.data(), beta.size()},
                              decide ? Control::Purpose::decide : Control::Purpose::show);
            });
            return leave;
          },
          nb::arg("problem"), nb::arg("solver"), nb::arg("epochs"), nb::arg("active"), nb::arg("w"), nb::arg("b"),
          nb::arg("beta"), nb::arg("decide"));
}

}  // namespace dualgap::bind
