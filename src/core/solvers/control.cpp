#include "solvers/control.hpp"

namespace dualgap {

namespace {
constexpr double poll_every = 0.02;  // seconds between looks for Ctrl-C
}

bool Control::look() {
  since_look_ = 0;
  if (stopped()) return true;
  const double now = clock_.total();
  if (now + judging_ >= max_time) {
    status_ = Status::max_time;
  } else if (now - last_poll_ >= poll_every && poll) {
    last_poll_ = now;
    if ((broken_off_ = poll())) status_ = Status::interrupted;
  }
  return stopped();
}

bool Control::ask(const Problem& problem, const char* solver, double epochs, Index active, ConstVector w, double b,
                  Vector beta, Purpose purpose) {
  clock_.pause();
  const double start = clock_.total();
  const Certificate certificate = judge(problem, w, b, beta, team);
  const double took = 1.3 * (clock_.total() - start);
  judging_ = measured_ ? std::max(took, 0.7 * judging_) : took;
  measured_ = true;
  clock_.resume();
  return record(certificate, solver, epochs, active, w, b, purpose);
}

bool Control::record(const Certificate& certificate, const char* solver, double epochs, Index active, ConstVector w,
                     double b, Purpose purpose) {
  clock_.pause();
  certificate_ = certificate;
  const Moment moment{
      epochs_before_ + epochs, clock_.running(), certificate.primal, certificate.dual, certificate.gap, active, solver};
  if (keep_trace) trace_.push_back(moment);
  if (purpose == Purpose::decide && certificate.relative_gap <= tol) stop(Status::optimal);
  if (callback && callback(moment, w, b)) stop(Status::interrupted);
  clock_.resume();
  look();
  return stopped();
}

}  // namespace dualgap
