// One number for every row, or rows by their numbers: in large pages where the system has them, filled and copied by
// all threads.
//
// A dozen such vectors of half a million rows are 13,000 page faults otherwise, most of them one after the other: a
// tenth of a fit that takes a quarter of a second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/blocks.hpp"
#include "base/team.hpp"

namespace dualgap {

/// Asks for large pages where they are full, and leaves new elements as they are.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new(bytes, std::align_val_t(page));
#if defined(__linux__)
    madvise(memory, bytes / page * page, MADV_HUGEPAGE);  // a wish: without them it is slower, no more
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < page)
      ::operator delete(memory);
    else
      ::operator delete(memory, std::align_val_t(page));
  }

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }
};

using RowVector = std::vector<double, LargePages<double>>;
using RowNumbers = std::vector<std::uint32_t, LargePages<std::uint32_t>>;

inline void zeros(Team& team, RowVector& to, Index rows) {
  to.resize(static_cast<std::size_t>(rows));
  const Blocks blocks(rows, 16384);
  team.for_each(blocks.count,
                [&](Index k) { std::fill(to.begin() + blocks.begin(k), to.begin() + blocks.end(k), 0.0); });
}

/// `to` may be a vector of any kind.
template <class To>
void copy(Team& team, const RowVector& from, To& to) {
  to.resize(from.size());
  const Blocks blocks(static_cast<Index>(from.size()), 16384);
  team.for_each(blocks.count, [&](Index k) {
    std::copy(from.begin() + blocks.begin(k), from.begin() + blocks.end(k), to.begin() + blocks.begin(k));
  });
}

}  // namespace dualgap
