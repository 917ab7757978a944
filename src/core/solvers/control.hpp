// Control: what every solver shares. The clock, the budgets, the user's interrupt, the trace and the way to the judge.
// Solvers consult it in blocks of work, so that it costs nothing; one object serves all solvers of one call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "judge/judge.hpp"

namespace dualgap {

enum class Status { running, optimal, max_iter, max_time, interrupted, stalled };

/// One judged moment: a row of the trace and what a callback sees.
struct Moment {
  double epoch, seconds;
  double primal, dual, gap;
  Index active;
  std::string solver;
};

class Control {
 public:
  double tol = 1e-3;
  double max_time = infinity;    // seconds of the whole call, judging included
  double max_epochs = infinity;  // passes' worth of row operations
  bool keep_trace = false;
  std::function<bool()> poll;                                        // true: Ctrl-C
  std::function<bool(const Moment&, ConstVector, double)> callback;  // true: stop
  Team team{1};

  explicit Control(int threads) : team(threads) {
    team.between = [this] { return look(); };
  }

  /// Inside a loop: `work` entries were touched since the last call. True: leave the loop now.
  bool tick(Index work) {
    since_look_ += work;
    return since_look_ >= look_every ? look() : status_ != Status::running;
  }
  /// The same, looking at once.
  bool look();

  /// Between two epochs: is the fit over? Where the budget of epochs is used up, it is from now on.
  bool over(double epochs) {
    if (epochs_left(epochs) <= 0) stop(Status::max_iter);
    return stopped();
  }
  /// Epochs that are still allowed, counting those of solvers before.
  double epochs_left(double epochs) const { return max_epochs - epochs_before_ - epochs; }
  void end_solver(double epochs) { epochs_before_ += epochs; }
  double epochs_before() const { return epochs_before_; }

  /// Does somebody want to see every epoch?
  bool watched() const { return keep_trace || callback; }

  enum class Purpose { show, decide };
  /// Asks the judge about a point (β is made feasible in place); records it, shows it, and, when the purpose is to
  /// decide, stops the fit where the relative gap is within tol. True: leave.
  bool ask(const Problem& problem, const char* solver, double epochs, Index active, ConstVector w, double b,
           Vector beta, Purpose purpose);
  /// The same for a certificate that was computed elsewhere (problems with a judge of their own).
  bool record(const Certificate& certificate, const char* solver, double epochs, Index active, ConstVector w, double b,
              Purpose purpose);

  /// The first reason counts; only that the user wants no more is stronger than having no means left.
  void stop(Status status) {
    if (status_ == Status::running || (status_ == Status::stalled && status == Status::interrupted)) status_ = status;
  }
  /// A solver that came to the end of its means is no reason for another one not to try.
  void reopen() {
    if (status_ == Status::stalled) status_ = Status::running;
  }
  bool stopped() const { return status_ != Status::running; }
  /// Ctrl-C, or another fit failed: nobody waits for the answer.
  bool broken_off() const { return broken_off_; }
  Status status() const { return status_; }
  /// Of the last point asked about.
  const Certificate& certificate() const { return certificate_; }
  const std::vector<Moment>& trace() const { return trace_; }
  Stopwatch& clock() { return clock_; }
  /// Seconds one judging takes: measured, or a guess from the number of entries.
  void expect_judging(double seconds) { judging_ = seconds; }

 private:
  static constexpr Index look_every = 1 << 17;  // entries: a fraction of a millisecond

  Stopwatch clock_;
  Index since_look_ = 0;
  double judging_ = 0, last_poll_ = 0, epochs_before_ = 0;
  bool measured_ = false, broken_off_ = false;
  Status status_ = Status::running;
  Certificate certificate_{};
  std::vector<Moment> trace_;
};

}  // namespace dualgap
