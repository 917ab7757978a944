// A whole svmlight text to CSR arrays, by several threads.
//
// Threads take pieces of the text in turn (one lock around the source, so files, pipes and decompressors are read the
// same way), parse them side by side into small buffers that stay in the cache, and put what they found in its place
// in order of the pieces. So the arrays are written once, the first bad line wins whoever meets it, and beyond the
// result there are only the buffers. Files are read rather than mapped: a mapped file that somebody cuts short kills
// the process, and mapped pages count as memory of ours.
#pragma once

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>

#include "base/types.hpp"
#include "text/parser.hpp"

namespace dualgap::text {

/// Where text comes from. Called by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// Up to `size` bytes to `to`; 0 at the end. Throws when it cannot be read.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  /// Bytes in all where known, else 0: only an estimate for the arrays' growth.
  virtual std::size_t size() const { return 0; }
  std::atomic<bool> stopping{false};  // set when nobody wants more: a read that waits should give up
  std::function<void()> waiting;      // to be called every now and then by a read that waits
};

class MemorySource final : public Source {
 public:
  MemorySource(const char* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t read(char* to, std::size_t size) override;
  std::size_t size() const override { return size_; }

 private:
  const char* data_;
  std::size_t size_, at_ = 0;
};

/// An open file, pipe or device; not closed here. `head` is what somebody has read of it already.
class FileSource final : public Source {
 public:
  explicit FileSource(int descriptor, std::string head = {});
  std::size_t read(char* to, std::size_t size) override;
  std::size_t size() const override { return size_; }

 private:
  int descriptor_;
  std::string head_;
  bool regular_ = false;
  std::size_t size_ = 0;
};

/// An array that grows where it stands; for large ones realloc moves page tables, not bytes.
class Store {
 public:
  Store() = default;
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t capacity() const { return capacity_; }  // bytes
  void resize(std::size_t bytes);
  /// The memory, to be freed with std::free.
  void* release();

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// How values are kept; exact: as float32 for as long as that loses nothing, as float64 from the first value on that
/// it would change.
enum class Precision { single, full, exact };

struct Table {
  Store values, columns, ends, labels, label_counts, queries;
  Index rows = 0, entries = 0, label_total = 0, query_total = 0;
  Index lowest = INT64_MAX, highest = -1;  // of the columns as written
  Index lines = 0, bytes = 0;
  bool wide = false;    // columns and ends are int64 rather than int32
  bool single = false;  // values are float32 rather than float64
};

struct Reading {
  Format format;
  Precision precision = Precision::full;
  int threads = 1;
  std::size_t piece_bytes = 256 << 10;  // text that with its rows stays in a core's own cache; a word must be shorter
  std::function<void()> poll;           // called by the calling thread every now and then; may throw
  std::function<void(Index)> progress;  // likewise, with the bytes read so far
};

struct Malformed : std::runtime_error {
  explicit Malformed(Fault fault) : std::runtime_error("malformed line"), fault(std::move(fault)) {}
  Fault fault;
};

/// Reads everything, or throws Malformed for the first bad line. With Base::unknown columns are stored less one, as
/// if they counted from one; the caller adds it back when `lowest` is 0.
Table read_svmlight(Source& source, const Reading& reading);

}  // namespace dualgap::text
