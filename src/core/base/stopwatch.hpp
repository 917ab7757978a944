// A clock that can be stopped, so that judging is not counted as solving.
#pragma once

#include <chrono>

namespace dualgap {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Seconds since construction, judging included: the user's time.
  double total() const { return seconds(start_, Clock::now()); }
  /// Seconds since construction without the pauses: the solver's time.
  double running() const { return seconds(start_, paused_ ? pause_began_ : Clock::now()) - pauses_; }

  void pause() {
    pause_began_ = Clock::now();
    paused_ = true;
  }
  void resume() {
    pauses_ += seconds(pause_began_, Clock::now());
    paused_ = false;
  }

 private:
  static double seconds(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
  }
  Clock::time_point start_ = Clock::now(), pause_began_{};
  double pauses_ = 0;
  bool paused_ = false;
};

}  // namespace dualgap
