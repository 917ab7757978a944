// Compressed sparse rows, float32 or float64 values or one value throughout (counts, one-hot), int32 or int64 indices.
//
// The width of indices and of row starts is a branch that never changes, not a template parameter: it costs nothing
// beside the memory it reads, and halves the number of loops to compile.
#pragma once

#include <algorithm>

#include "base/types.hpp"
#include "rows/sample.hpp"
#include "simd/table.hpp"

namespace dualgap {

/// The integer arrays of a CSR matrix, of either width.
struct Pattern {
  const void* starts;  // rows + 1 offsets
  const void* indices;
  bool wide_starts, wide_indices;
  Sample sample{};

  // inline whatever the compiler thinks: a call a row is felt where rows are short
  [[gnu::always_inline]] Index start(Index i) const { return offset(sample(i)); }
  [[gnu::always_inline]] Index end(Index i) const { return offset(sample(i) + 1); }
  [[gnu::always_inline]] Index offset(Index i) const {
    return wide_starts ? static_cast<const std::int64_t*>(starts)[i] : static_cast<const std::int32_t*>(starts)[i];
  }
  Index column(Index k) const {
    return wide_indices ? static_cast<const std::int64_t*>(indices)[k] : static_cast<const std::int32_t*>(indices)[k];
  }
  const std::int32_t* narrow(Index k) const { return static_cast<const std::int32_t*>(indices) + k; }
  const std::int64_t* wide(Index k) const { return static_cast<const std::int64_t*>(indices) + k; }

  void prefetch_place(Index i) const {
    __builtin_prefetch(static_cast<const char*>(starts) + sample(i) * (wide_starts ? 8 : 4));
  }
};

/// Values as they are stored.
template <class T>
struct StoredValues {
  using Value = T;
  const T* data;
  double at(Index k) const { return static_cast<double>(data[k]); }
  double apart(Index k) const { return at(k); }  // at = apart · common
  double common() const { return 1.0; }
  double dot(const simd::Table& t, Index k, const std::int32_t* j, const double* w, Index n) const {
    if constexpr (sizeof(T) == 8)
      return t.sparse.dot_f64(data + k, j, w, n);
    else
      return t.sparse.dot_f32(data + k, j, w, n);
  }
  void add(const simd::Table& t, Index k, const std::int32_t* j, double a, double* w, Index n) const {
    if constexpr (sizeof(T) == 8)
      t.sparse.add_f64(a, data + k, j, w, n);
    else
      t.sparse.add_f32(a, data + k, j, w, n);
  }
  void prefetch(Index k) const { __builtin_prefetch(data + k); }
};

/// Every stored value is the same number, so none is read.
struct EqualValues {
  double value;
  double at(Index) const { return value; }
  double apart(Index) const { return 1.0; }
  double common() const { return value; }
  double dot(const simd::Table& t, Index, const std::int32_t* j, const double* w, Index n) const {
    return value * t.sparse.dot_ones(j, w, n);
  }
  void add(const simd::Table& t, Index, const std::int32_t* j, double a, double* w, Index n) const {
    t.sparse.add_ones(a * value, j, w, n);
  }
  void prefetch(Index) const {}
};

template <class Values>
class CsrRows {
 public:
  CsrRows(Values values, Pattern pattern, Index rows, Index cols)
      : values_(values), pattern_(pattern), rows_(rows), cols_(cols), simd_(&simd::active()) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index entries(Index i) const { return pattern_.end(i) - pattern_.start(i); }
  Index entries() const { return rows_ > 0 ? pattern_.end(rows_ - 1) / pattern_.sample.step() : 0; }
  CsrRows thinned(Sample sample) const {
    Pattern fewer = pattern_;
    fewer.sample = sample;
    return CsrRows(values_, fewer, rows_ / sample.step(), cols_);
  }

  double dot(Index i, const double* w) const {
    const Index k = pattern_.start(i), n = pattern_.end(i) - k;
    if (pattern_.wide_indices) return plain_dot(k, pattern_.wide(k), w, n);
    return n <= few ? plain_dot(k, pattern_.narrow(k), w, n) : values_.dot(*simd_, k, pattern_.narrow(k), w, n);
  }
  void add(Index i, double a, double* w) const {
    const Index k = pattern_.start(i), n = pattern_.end(i) - k;
    if (pattern_.wide_indices)
      plain_add(k, pattern_.wide(k), a, w, n);
    else if (n <= few)
      plain_add(k, pattern_.narrow(k), a, w, n);
    else
      values_.add(*simd_, k, pattern_.narrow(k), a, w, n);
  }
  template <class F>
  [[gnu::always_inline]] void view(Index i, F f) const {
    const Index k = pattern_.start(i), n = pattern_.end(i) - k;
    if (pattern_.wide_indices)
      f(View<std::int64_t>{values_, pattern_.wide(k), k, n});
    else
      f(View<std::int32_t>{values_, pattern_.narrow(k), k, n});
  }

  /// The start of a row that will be needed soon; the processor's own prefetcher follows a long one, and a loop over
  /// its lines costs more than it brings.
  void prefetch(Index i) const {
    const Index k = pattern_.start(i);
    __builtin_prefetch(static_cast<const char*>(pattern_.indices) + k * (pattern_.wide_indices ? 8 : 4));
    values_.prefetch(k);
  }
  void prefetch_place(Index i) const { pattern_.prefetch_place(i); }

  const Pattern& pattern() const { return pattern_; }
  const Values& values() const { return values_; }

 private:
  /// Up to so many entries go by ordinary loads at every level: what was just stored is forwarded to such a load, but
  /// not to a wide gather, which waits for the store; in descent rows follow each other that closely.
  static constexpr Index few = 16;
  static constexpr double tail[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

  /// Eight sums side by side. The last eight entries are then taken once more, those that were in already times zero:
  /// where each row has another number of entries the processor cannot foresee the end of a loop over the rest, and a
  /// wrong guess costs as much as the row.
  template <class I>
  double plain_dot(Index k, const I* j, const double* w, Index n) const {
    double sum[8] = {};
    if (n < 8) {
      for (Index t = 0; t < n; ++t) sum[0] += values_.apart(k + t) * w[j[t]];
      return sum[0] * values_.common();
    }
    Index t = 0;
    for (; t + 8 <= n; t += 8)
      for (Index c = 0; c < 8; ++c) sum[c] += values_.apart(k + t + c) * w[j[t + c]];
    const double* factor = tail + (n - t);
    t = n - 8;
    for (Index c = 0; c < 8; ++c) sum[c] += factor[c] * values_.apart(k + t + c) * w[j[t + c]];
    const double all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    return all * values_.common();
  }
  template <class I>
  void plain_add(Index k, const I* j, double a, double* w, Index n) const {
    for (Index t = 0; t < n; ++t) w[j[t]] += a * values_.at(k + t);
  }

  template <class I>
  struct View {
    Values values;
    const I* columns;
    Index first, size;
    Index column(Index k) const { return columns[k]; }
    double value(Index k) const { return values.at(first + k); }
  };

  Values values_;
  Pattern pattern_;
  Index rows_, cols_;
  const simd::Table* simd_;
};

}  // namespace dualgap
