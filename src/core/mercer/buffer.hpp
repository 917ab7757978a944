// Plain memory for kernel values: aligned to cache lines, not initialised, in large pages where the system has them
// (a fit touches hundreds of megabytes once: with small pages the first touch costs as much as the kernel values).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/types.hpp"

namespace dualgap {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) { reserve(size); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  /// Room for so many values; what was there may be lost.
  void reserve(Index size) {
    if (size <= capacity_) return;
    std::free(std::exchange(data_, nullptr));
    capacity_ = 0;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    const std::size_t page = bytes >= large_page / 4 ? large_page : 64, rounded = (bytes + page - 1) / page * page;
    data_ = static_cast<T*>(std::aligned_alloc(page, rounded));
    if (!data_) throw std::bad_alloc();
#if defined(__linux__)
    if (page == large_page) madvise(data_, rounded, MADV_HUGEPAGE);
#endif
    capacity_ = static_cast<Index>(rounded / sizeof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static constexpr std::size_t large_page = std::size_t{1} << 21;
  T* data_ = nullptr;
  Index capacity_ = 0;
};

}  // namespace dualgap
