// Rows of the kernel matrix of a set of rows, made in blocks when asked for and kept while they fit: an LRU cache with
// a budget in bytes. Every row has a position; positions may be swapped, so that the rows a solver still works on come
// first and the others cost nothing (shrinking).
//
// Memory: the budget (never less than two rows), plus one packed copy of the rows.
#pragma once

#include <span>
#include <utility>

#include "base/team.hpp"
#include "mercer/pack.hpp"
#include "mercer/shared_rows.hpp"

namespace dualgap {

template <class T>
class Gram {
 public:
  /// `team.between` is asked between pieces of work; true: the request is given up. `shared` (or nullptr) is where
  /// other problems over the same rows leave what this one needs too.
  Gram(const AnyRows& rows, Places ids, const Kernel& kernel, double budget, Team& team, SharedRows* shared);

  Index size() const { return static_cast<Index>(ids_.size()); }
  /// k(x, x) at every position.
  const std::vector<double>& diagonal() const { return diagonal_; }
  /// How many rows fit.
  Index capacity() const { return capacity_; }
  /// Is the row at this position there, as far as `cols`?
  bool holds(Index position, Index cols) const {
    return slot_of_[position] >= 0 && slots_[slot_of_[position]].length >= cols;
  }

  /// The row at this position where it is there as far as `cols`, otherwise nothing.
  const T* find(Index position, Index cols) {
    if (!holds(position, cols)) return nullptr;
    const std::int32_t s = slot_of_[position];
    order_.use(s);
    return slots_[s].values;
  }
  /// Pointers to the rows at these (different) positions, at most `capacity` of them, of which the first `cols` columns
  /// are right; valid until the next call. False: left before they were made.
  bool fetch(std::span<const std::uint32_t> positions, Index cols, std::vector<const T*>& out);
  /// Exchanges positions, pair by pair.
  void swap(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

 private:
  struct Slot {
    T* values = nullptr;
    std::int32_t owner = -1;
    std::uint64_t request = 0;
    Index length = 0;
  };
  static constexpr Index block_work = 1 << 28;     // products between two looks for Ctrl-C: some ten milliseconds
  static constexpr Index worth_threads = 6000000;  // products and functions: some tenths of a millisecond
  static constexpr Index worth_sharing = 100;  // products and functions: a value that is cheaper is made, not copied

  std::int32_t slot_for(std::uint32_t position);
  T* new_row();
  bool make(const Places& positions, Index from, Index to);
  bool make_or_share(const Places& positions);
  bool make_precomputed(const Places& positions, Index from, Index to);

  const AnyRows& rows_;
  Places ids_;
  Kernel kernel_;
  Team& team_;
  SharedRows* shared_;
  std::vector<SharedRows::Range> classes_;  // that can be shared: positions are as they were at first
  Layout layout_;
  std::vector<double> shift_;
  Right<T> all_;
  Left<T> left_;
  std::vector<double> diagonal_;
  std::vector<Slot> slots_;
  std::vector<Buffer<T>> chunks_;
  std::vector<std::int32_t> slot_of_;
  Index row_work_ = 0;                  // what a value costs
  Index capacity_, stride_, room_ = 0;  // rows that the last chunk still has
  T* next_row_ = nullptr;
  LastUsed order_;  // of the slots
  std::uint64_t request_ = 0;
  bool stale_ = false;  // positions were swapped since the rows were packed
};

}  // namespace dualgap
