// Rows of the kernel matrix of a set of rows, made in blocks when asked for and kept while they fit: an LRU cache with
// a budget in bytes. Every row has a position; positions may be swapped, so that the rows a solver still works on come
// first and the others cost nothing (shrinking).
//
// Memory: the budget (never less than the rows of one request), plus one packed copy of the rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/team.hpp"
#include "mercer/pack.hpp"

namespace dualgap {

using Places = std::vector<std::uint32_t>;

template <class T>
class Gram {
 public:
  /// `leave(work)` is asked between pieces of work; true: give up the request.
  Gram(const AnyRows& rows, Places ids, const Kernel& kernel, const Blas& blas, double budget, Team& team,
       std::function<bool(Index)> leave);

  Index size() const { return static_cast<Index>(ids_.size()); }
  /// k(x, x) at every position.
  const std::vector<double>& diagonal() const { return diagonal_; }
  /// The row of the matrix at every position.
  const Places& ids() const { return ids_; }
  /// How many rows fit.
  Index capacity() const { return capacity_; }

  /// Pointers to the rows at these (different) positions, of which the first `cols` columns are right; valid until the
  /// next call. False: left before they were made.
  bool fetch(std::span<const std::uint32_t> positions, Index cols, std::vector<const T*>& out);
  /// Exchanges positions, pair by pair.
  void swap(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

 private:
  struct Slot {
    std::unique_ptr<T[]> values;
    std::int32_t owner = -1, older = -1, newer = -1;
    std::uint64_t request = 0;
    Index length = 0;
  };
  static constexpr Index columns_at_once = 512, rows_at_once = 256;
  static constexpr Index worth_threads = 20000000;  // products: about a millisecond

  std::int32_t slot_for(std::uint32_t position);
  void unlink(std::int32_t s);
  void to_front(std::int32_t s);
  bool make(const Places& positions, Index from, Index to);
  bool make_precomputed(const Places& positions, Index from, Index to);
  void gather_left(const std::uint32_t* positions, Index count);

  const AnyRows& rows_;
  Places ids_;
  Kernel kernel_;
  const Blas& blas_;
  Team& team_;
  std::function<bool(Index)> leave_;
  Pack<T> all_, left_;
  std::vector<double> diagonal_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> slot_of_;
  std::vector<BlockRoom<T>> rooms_;
  Index capacity_;
  std::int32_t oldest_ = -1, newest_ = -1;
  std::uint64_t request_ = 0;
};

}  // namespace dualgap
