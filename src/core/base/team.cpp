#include "base/team.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

#include <algorithm>

namespace dualgap {

namespace {

constexpr int spins = 2000;  // about a millisecond, given to whoever wants the core: rounds follow each other faster

/// Linux may put a new thread on its maker's core, and does not look again before a short fit is over: each is sent
/// away once, and may go where it likes from then on.
void send_to_other_cores([[maybe_unused]] std::vector<std::thread>& threads) {
#ifdef __linux__
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0) return;
  for (std::thread& thread : threads) {
    pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
    pthread_setaffinity_np(thread.native_handle(), sizeof allowed, &allowed);
  }
#endif
}

}  // namespace

Team::~Team() {
  if (members_.empty()) return;
  closing_ = true;
  ++round_;
  round_.notify_all();
  for (auto& thread : members_) thread.join();
}

void Team::start() {
  for (int k = 1; k < threads_; ++k) members_.emplace_back([this] { member(); });
  send_to_other_cores(members_);
}

/// A ticket says how many blocks its own round has, so one that comes too late cannot be taken for one of the next.
void Team::take_blocks() {
  while (!failed_.load(std::memory_order_relaxed) && !interrupted()) {
    const std::uint64_t ticket = ticket_.fetch_add(1, std::memory_order_acq_rel), block = ticket & mask;
    if (block >= (ticket >> bits & mask)) return;
    try {
      (*work_)(static_cast<Index>(block));
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
    done_.fetch_add(1);
    done_.notify_one();
  }
}

/// Hands out no more blocks, and waits for those that were begun.
void Team::wait_for_begun() {
  const std::uint64_t round = ticket_.load() >> (2 * bits), blocks = ticket_.load() >> bits & mask;
  const std::uint64_t ticket = ticket_.exchange(round << (2 * bits) | blocks << bits | blocks);
  const auto begun = static_cast<std::uint32_t>(std::min(ticket & mask, blocks));
  for (int k = 0; k < spins && done_.load() != begun; ++k) std::this_thread::yield();
  for (std::uint32_t done; (done = done_.load()) != begun;) done_.wait(done);
}

bool Team::interrupted() {
  if (!may_abandon_) return false;
  if (std::this_thread::get_id() == owner_.load() && between && between()) abandoned_ = true;
  return abandoned_;
}

bool Team::try_each(Index blocks, const std::function<void(Index)>& work) {
  owner_ = std::this_thread::get_id();
  abandoned_ = false;
  may_abandon_ = true;
  for_each(blocks, work);
  may_abandon_ = false;
  return !abandoned_;
}

void Team::member() {
  std::uint32_t seen = 0;
  for (;;) {
    for (int k = 0; k < spins && round_.load(std::memory_order_acquire) == seen; ++k) std::this_thread::yield();
    round_.wait(seen);
    seen = round_.load();
    if (closing_) return;
    take_blocks();
  }
}

void Team::for_each(Index blocks, const std::function<void(Index)>& work) {
  constexpr Index most = static_cast<Index>(mask) - 4096;  // the rest is for those who come too late
  if (threads_ == 1 || blocks <= 1) {
    for (Index block = 0; block < blocks && !interrupted(); ++block) work(block);
    return;
  }
  if (blocks > most) {
    for (Index first = 0; first < blocks && !interrupted(); first += most)
      for_each(std::min(most, blocks - first), [&](Index block) { work(first + block); });
    return;
  }
  if (members_.empty()) start();
  work_ = &work;
  done_ = 0;
  failed_ = false;
  const std::uint64_t round = (ticket_.load() >> (2 * bits)) + 1;
  ticket_.store(round << (2 * bits) | static_cast<std::uint64_t>(blocks) << bits, std::memory_order_release);
  ++round_;
  round_.notify_all();
  take_blocks();
  wait_for_begun();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace dualgap
