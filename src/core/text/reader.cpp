#include "text/reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/team.hpp"
#include "text/number.hpp"

namespace dualgap::text {

std::size_t MemorySource::read(char* to, std::size_t size) {
  const std::size_t n = std::min(size, size_ - at_);
  std::memcpy(to, data_ + at_, n);
  at_ += n;
  return n;
}

FileSource::FileSource(int descriptor, std::string head) : descriptor_(descriptor), head_(std::move(head)) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) throw std::system_error(errno, std::generic_category());
  regular_ = S_ISREG(info.st_mode);
  if (regular_) size_ = static_cast<std::size_t>(info.st_size);
}

std::size_t FileSource::read(char* to, std::size_t size) {
  if (!head_.empty()) {
    const std::size_t n = head_.copy(to, size);
    head_.erase(0, n);
    return n;
  }
  for (;;) {
    if (!regular_) {  // a pipe may keep us waiting: look up now and then
      pollfd wait{descriptor_, POLLIN, 0};
      if (stopping) return 0;
      if (::poll(&wait, 1, 50) <= 0) {
        if (waiting) waiting();
        continue;
      }
    }
    const ssize_t n = ::read(descriptor_, to, size);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR && errno != EAGAIN) throw std::system_error(errno, std::generic_category());
  }
}

Store::Store(Store&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
Store& Store::operator=(Store&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  return *this;
}
Store::~Store() { std::free(data_); }
void* Store::release() {
  capacity_ = 0;
  return std::exchange(data_, nullptr);
}
void Store::resize(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 16);
  void* moved = std::realloc(data_, bytes);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = moved;
  capacity_ = bytes;
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 4096;
  if (bytes >= (8u << 20)) {  // fewer, larger pages: fewer faults at the first touch
    const auto first = (reinterpret_cast<std::uintptr_t>(data_) + page - 1) / page * page;
    madvise(reinterpret_cast<void*>(first), bytes - page, MADV_HUGEPAGE);
  }
#endif
}

namespace {

/// One thread's text and what became of it.
struct Block {
  explicit Block(std::size_t bytes) : text(new char[bytes + padding]), piece(bytes) {}
  std::unique_ptr<char[]> text;
  std::size_t size = 0;
  Piece piece;
  Piece::End end = Piece::End::line;
  bool continues = false;  // goes on where the block before stopped inside a line
  bool last = false;
  bool needs_double = false;  // has a value that float32 would change, where that matters
  Index number = 0;
  std::exception_ptr error;
};

/// Cuts the source into blocks.
class Cutter {
 public:
  Cutter(Source& source, std::size_t bytes) : source_(source), piece_bytes_(bytes), rest_(new char[bytes]) {}

  /// Fills the block; false when there is no more. Errors of the source are the block's.
  bool next(Block& block) {
    if (done_) return false;
    block.number = number_++;
    block.continues = inside_line_;
    try {
      fill(block);
    } catch (...) {
      block.error = std::current_exception();
      done_ = true;
    }
    return true;
  }
  Index bytes() const { return bytes_; }

 private:
  void fill(Block& block) {
    char* text = block.text.get();
    std::memcpy(text, rest_.get(), rest_size_);
    std::size_t size = rest_size_;
    rest_size_ = 0;
    while (size < piece_bytes_ && !done_) {
      const std::size_t n = source_.read(text + size, piece_bytes_ - size);
      done_ = n == 0;
      size += n;
      bytes_ += static_cast<Index>(n);
    }
    block.last = done_;
    block.end = Piece::End::line;
    if (!done_) size = cut(block, size);
    inside_line_ = block.end != Piece::End::line;
    block.size = size;
    std::memset(text + size, 0, padding);
    text[size] = '\n';
  }

  std::size_t cut(Block& block, std::size_t size) {
    const char* text = block.text.get();
    std::size_t keep = size;
    while (keep > 0 && text[keep - 1] != '\n') --keep;
    if (keep == 0) {
      block.end = Piece::End::word;
      for (keep = size; keep > 0 && !(text[keep - 1] == ' ' || text[keep - 1] == '\t');) --keep;
    }
    if (keep == 0) {
      block.end = Piece::End::torn;
      keep = size;
    }
    rest_size_ = size - keep;
    std::memcpy(rest_.get(), text + keep, rest_size_);
    return keep;
  }

  Source& source_;
  std::size_t piece_bytes_;
  std::unique_ptr<char[]> rest_;
  std::size_t rest_size_ = 0;
  Index number_ = 0;
  std::atomic<Index> bytes_{0};
  bool done_ = false, inside_line_ = false;
};

class Reader {
 public:
  Reader(Source& source, const Reading& reading)
      : source_(source), reading_(reading), cutter_(source, reading.piece_bytes) {
    table_.single = reading.precision != Precision::full;
  }

  Table read() {
    caller_ = std::this_thread::get_id();
    source_.waiting = [this] { look_up(); };
    const std::size_t size = source_.size();
    const Index useful = size == 0 ? reading_.threads : static_cast<Index>(size / reading_.piece_bytes + 1);
    const int threads = static_cast<int>(std::min<Index>(reading_.threads, useful));
    Team team(threads);
    team.for_each(threads, [this](Index) { work_until_done(); });
    if (error_) std::rethrow_exception(error_);
    if (fault_) throw Malformed(std::move(*fault_));
    trim();
    table_.bytes = cutter_.bytes();
    return std::move(table_);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr auto patience = std::chrono::milliseconds(50);

  void work_until_done() {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void work() {
    Block block(reading_.piece_bytes);
    while (!stopped_ && take(block)) {
      if (block.continues && !await_turn(block)) return;
      if (!block.error) {
        block.piece.parse(block.text.get(), block.text.get() + block.size, block.end, reading_.format,
                          block.continues ? carry_ : Carry{});
        if (block.last && !block.piece.fault) block.piece.finish();
        block.needs_double = reading_.precision == Precision::exact && !fits_single(block.piece);
      }
      commit(block);
    }
  }

  static bool fits_single(const Piece& piece) {
    const double* v = piece.values.get();
    unsigned changed = 0;
    constexpr Index step = 1024;  // most files decide with their first values
    for (Index first = 0; first < piece.entries && changed == 0; first += step)
      for (Index k = first, last = std::min(first + step, piece.entries); k < last; ++k)
        changed |= static_cast<double>(static_cast<float>(v[k])) != v[k];
    return changed == 0;
  }

  bool take(Block& block) {
    std::unique_lock lock(source_mutex_, std::defer_lock);
    // by the system's clock: the thread sanitizer does not see a lock that was waited for by the steady one
    while (!lock.try_lock_until(std::chrono::system_clock::now() + patience)) look_up();
    look_up();
    return !stopped_ && cutter_.next(block);
  }

  /// Signals and progress, at most every 50 ms, by the calling thread only.
  void look_up() {
    if (std::this_thread::get_id() != caller_ || stopped_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < patience) return;
    looked_ = now;
    try {
      if (reading_.poll) reading_.poll();
      if (reading_.progress) reading_.progress(cutter_.bytes());
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr error) {
    const Lock turn(mutex_);
    if (!error_) error_ = std::move(error);
    stop();
  }

  void stop() {
    stopped_ = true;
    source_.stopping = true;
    changed_.notify_all();
  }

  bool await_turn(const Block& block) {
    Lock turn(mutex_);
    while (next_ != block.number && !stopped_)
      if (changed_.wait_for(turn, patience) == std::cv_status::timeout) {
        turn.unlock();
        look_up();
        turn.lock();
      }
    return !stopped_;
  }

  /// Puts a parsed block in its place: the place is given in order, the copying goes on side by side.
  void commit(Block& block) {
    if (!await_turn(block)) return;
    Lock turn(mutex_);
    const Piece& piece = block.piece;
    if (block.error || refuse(piece)) {
      error_ = block.error;
      return stop();
    }
    const Place place{table_.entries, table_.rows, starts_, table_.label_total, table_.query_total};
    try {
      if (block.needs_double && table_.single) make_double();
      reserve(piece);
    } catch (...) {
      error_ = std::current_exception();
      return stop();
    }
    advance(piece);
    const std::shared_lock copying(arrays_);
    ++next_;
    changed_.notify_all();
    turn.unlock();
    copy(piece, place);
  }

  struct Place {
    Index entries, rows, starts, labels, queries;
  };

  /// True, with the fault, when the piece has a bad line.
  bool refuse(const Piece& piece) {
    fault_ = piece.fault;
    if (reading_.format.queries) check_queries(piece);
    if (fault_) fault_->line += table_.lines;
    return fault_.has_value();
  }

  /// The first row of the text says whether rows have a qid; the first that differs is at fault.
  void check_queries(const Piece& piece) {
    const Index with = piece.first_with_query, without = piece.first_without_query;
    if (!queries_decided_ && (with >= 0 || without >= 0)) {
      queries_decided_ = true;
      with_query_ = with >= 0 && (without < 0 || with < without);
    }
    const Index odd = with_query_ ? without : with;
    if (odd < 0 || (fault_ && fault_->line < odd + 1)) return;  // on the same line the qid comes first
    fault_ = with_query_ ? Fault{odd + 1, 1, "no qid", "one, because the lines before have one"}
                         : Fault{odd + 1, 1, "a qid", "none, because the lines before have none"};
  }

  void advance(const Piece& piece) {
    table_.entries += piece.entries;
    table_.rows += piece.rows;
    starts_ += piece.starts;
    table_.label_total += piece.label_total;
    table_.query_total += piece.query_total;
    table_.lines += piece.lines;
    table_.lowest = std::min(table_.lowest, piece.lowest);
    table_.highest = std::max(table_.highest, piece.highest);
    carry_ = piece.carry;
  }

  std::size_t value_bytes() const { return table_.single ? 4 : 8; }
  std::size_t index_bytes() const { return table_.wide ? 8 : 4; }

  void reserve(const Piece& piece) {
    const Index entries = table_.entries + piece.entries;
    if (!table_.wide && (entries > INT32_MAX || piece.highest > INT32_MAX)) widen();
    grow(table_.values, entries, value_bytes());
    grow(table_.columns, entries, index_bytes());
    grow(table_.ends, table_.rows + piece.rows + 1, index_bytes());
    grow(table_.labels, table_.label_total + piece.label_total, 8);
    if (reading_.format.labels == Labels::many) grow(table_.label_counts, starts_ + piece.starts, 4);
    if (reading_.format.queries) grow(table_.queries, table_.query_total + piece.query_total, 8);
  }

  /// Room for `count` items, and for as many as the rest of the source will bring if it goes on like this.
  void grow(Store& store, Index count, std::size_t item) {
    const std::size_t need = static_cast<std::size_t>(count) * item;
    if (need <= store.capacity()) return;
    double target = 1.5 * static_cast<double>(need);
    const double size = static_cast<double>(source_.size()), read = static_cast<double>(cutter_.bytes());
    if (size > 0 && read > 0) target = std::min(1.02 * static_cast<double>(need) * std::max(1.0, size / read), 1e15);
    const std::unique_lock alone(arrays_);
    store.resize(std::max(need, static_cast<std::size_t>(target)));
  }

  template <class Narrow, class Wide>
  static void stretch(Store& store, Index count) {
    if (store.capacity() == 0) return;
    store.resize(2 * store.capacity());
    const char* from = store.as<char>();
    char* to = store.as<char>();
    for (Index k = count - 1; k >= 0; --k) {  // from the end: nothing is overwritten unread
      Narrow item;
      std::memcpy(&item, from + k * sizeof item, sizeof item);
      const Wide same = item;
      std::memcpy(to + k * sizeof same, &same, sizeof same);
    }
  }

  void widen() {
    const std::unique_lock alone(arrays_);
    stretch<std::int32_t, Index>(table_.columns, table_.entries);
    stretch<std::int32_t, Index>(table_.ends, table_.rows + 1);
    table_.wide = true;
  }

  void make_double() {
    const std::unique_lock alone(arrays_);
    stretch<float, double>(table_.values, table_.entries);
    table_.single = false;
  }

  void copy(const Piece& piece, const Place& at) {
    if (table_.single)
      std::copy_n(piece.values.get(), piece.entries, table_.values.as<float>() + at.entries);
    else
      std::copy_n(piece.values.get(), piece.entries, table_.values.as<double>() + at.entries);
    if (table_.wide)
      copy_whole<Index>(piece, at);
    else
      copy_whole<std::int32_t>(piece, at);
    std::copy_n(piece.labels.get(), piece.label_total, table_.labels.as<double>() + at.labels);
    if (reading_.format.labels == Labels::many)
      std::copy_n(piece.label_counts.get(), piece.starts, table_.label_counts.as<std::int32_t>() + at.starts);
    if (reading_.format.queries)
      std::copy_n(piece.queries.get(), piece.query_total, table_.queries.as<Index>() + at.queries);
  }

  template <class I>
  void copy_whole(const Piece& piece, const Place& at) {
    const Index shift = reading_.format.base == Base::zero ? 0 : 1;
    I* columns = table_.columns.as<I>() + at.entries;
    for (Index k = 0; k < piece.entries; ++k) columns[k] = static_cast<I>(piece.columns[k] - shift);
    I* ends = table_.ends.as<I>() + at.rows + 1;
    for (Index k = 0; k < piece.rows; ++k) ends[k] = static_cast<I>(piece.ends[k] + at.entries);
  }

  void trim() {
    table_.values.resize(table_.entries * value_bytes());
    table_.columns.resize(table_.entries * index_bytes());
    table_.ends.resize((table_.rows + 1) * index_bytes());
    table_.labels.resize(table_.label_total * 8);
    table_.label_counts.resize(reading_.format.labels == Labels::many ? table_.rows * 4 : 0);
    table_.queries.resize(reading_.format.queries ? table_.query_total * 8 : 0);
    std::memset(table_.ends.as<char>(), 0, index_bytes());
  }

  Source& source_;
  const Reading& reading_;
  Cutter cutter_;
  std::timed_mutex source_mutex_;
  std::thread::id caller_;
  std::chrono::steady_clock::time_point looked_{};

  std::mutex mutex_;  // what follows is its
  std::condition_variable changed_;
  Index next_ = 0, starts_ = 0;
  Table table_;
  Carry carry_;
  bool queries_decided_ = false, with_query_ = false;
  std::optional<Fault> fault_;
  std::exception_ptr error_;
  std::atomic<bool> stopped_{false};
  std::shared_mutex arrays_;  // shared while copying into the arrays, alone while they grow
};

}  // namespace

Table read_svmlight(Source& source, const Reading& reading) { return Reader(source, reading).read(); }

}  // namespace dualgap::text
