#include "base/team.hpp"

namespace dualgap {

namespace {
constexpr int spins = 2000;  // about 20 microseconds: shorter than waking a sleeping thread
}

Team::~Team() {
  if (members_.empty()) return;
  closing_ = true;
  ++round_;
  round_.notify_all();
  for (auto& thread : members_) thread.join();
}

void Team::start() {
  for (int k = 1; k < threads_; ++k) members_.emplace_back([this] { member(); });
}

void Team::take_blocks() {
  try {
    for (Index block; !interrupted() && (block = next_.fetch_add(1)) < blocks_;) (*work_)(block);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = blocks_;
  }
}

bool Team::interrupted() {
  if (!may_abandon_) return false;
  if (std::this_thread::get_id() == owner_ && between && between()) abandoned_ = true;
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
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

void Team::for_each(Index blocks, const std::function<void(Index)>& work) {
  if (threads_ == 1 || blocks <= 1) {
    for (Index block = 0; block < blocks && !interrupted(); ++block) work(block);
    return;
  }
  if (members_.empty()) start();
  work_ = &work;
  blocks_ = blocks;
  next_ = 0;
  busy_ = static_cast<int>(members_.size());
  ++round_;
  round_.notify_all();
  take_blocks();
  for (int k = 0; k < spins && busy_.load() != 0; ++k) std::this_thread::yield();
  for (int left; (left = busy_.load()) != 0;) busy_.wait(left);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace dualgap
