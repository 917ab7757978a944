// A small team of threads that lives as long as one solve: no global state, nothing to break when a process forks.
//
// Work is given as numbered blocks; who does which block is left to chance, so whatever a block writes must depend on
// its number alone. Sums over blocks are then taken in order by the caller: the same bits for every number of threads.
// The caller waits for blocks that were begun, never for a thread that has not woken up: on a busy machine it does the
// work itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace dualgap {

class Team {
 public:
  explicit Team(int threads) : threads_(threads < 1 ? 1 : threads) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  int size() const { return threads_; }

  /// Calls work(block) once for every block in [0, blocks). The first exception is thrown again here.
  void for_each(Index blocks, const std::function<void(Index)>& work);

  /// The same, but it may be given up between blocks (see `interrupted`): false where it was. The work is then partly
  /// done, and what it wrote is of no use.
  bool try_each(Index blocks, const std::function<void(Index)>& work);

  /// Asked by the calling thread between blocks of try_each and inside long ones: true gives the work up.
  std::function<bool()> between;

  /// For long blocks of try_each: has the work been given up? The calling thread asks `between`.
  bool interrupted();

 private:
  static constexpr int bits = 24;  // of a ticket: round | blocks | next block
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;

  void start();
  void member();
  void take_blocks();
  void wait_for_begun();

  int threads_;
  std::vector<std::thread> members_;
  const std::function<void(Index)>* work_ = nullptr;
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> done_{0}, round_{0};
  std::atomic<bool> closing_{false}, may_abandon_{false}, abandoned_{false}, failed_{false};
  std::atomic<std::thread::id> owner_{std::this_thread::get_id()};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace dualgap
