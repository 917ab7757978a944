// Compressed sparse rows, float32 or float64 values or one value throughout (counts, one-hot), int32 or int64 indices.
//
// Ordinary loads and stores, two numbers at a time: gather and scatter instructions are no faster where rows are short
// or w is not in the first cache, and much slower on many processors (docs/adr/0002).
//
// The width of indices and of row starts is a branch that never changes, not a template parameter: it costs nothing
// beside the memory it reads, and halves the number of loops to compile.
#pragma once

#include "base/types.hpp"
#include "rows/sample.hpp"

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
  void prefetch(Index k) const { __builtin_prefetch(data + k); }
};

/// Every stored value is the same number, so none is read.
struct EqualValues {
  double value;
  double at(Index) const { return value; }
  double apart(Index) const { return 1.0; }
  double common() const { return value; }
  void prefetch(Index) const {}
};

template <class Values>
class CsrRows {
 public:
  CsrRows(Values values, Pattern pattern, Index rows, Index cols)
      : values_(values), pattern_(pattern), rows_(rows), cols_(cols) {}

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
    return pattern_.wide_indices ? dot_of(k, pattern_.wide(k), w, n) : dot_of(k, pattern_.narrow(k), w, n);
  }
  void add(Index i, double a, double* w) const {
    const Index k = pattern_.start(i), n = pattern_.end(i) - k;
    if (pattern_.wide_indices)
      add_of(k, pattern_.wide(k), a, w, n);
    else
      add_of(k, pattern_.narrow(k), a, w, n);
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
  using Pair = double __attribute__((vector_size(16)));
  static constexpr double tail[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

  template <class I>
  Pair products(Index k, const I* j, const double* w) const {
    return Pair{values_.apart(k), values_.apart(k + 1)} * Pair{w[j[0]], w[j[1]]};
  }

  /// Eight sums side by side. The last eight entries are then taken once more, those that were in already times zero:
  /// where each row has another number of entries the processor cannot foresee the end of a loop over the rest, and a
  /// wrong guess costs as much as the row.
  template <class I>
  double dot_of(Index k, const I* j, const double* w, Index n) const {
    if (n < 8) {
      double sum = 0;
      for (Index t = 0; t < n; ++t) sum += values_.apart(k + t) * w[j[t]];
      return sum * values_.common();
    }
    Pair a = {}, b = {}, c = {}, d = {};
    Index t = 0;
    for (; t + 8 <= n; t += 8) {
      a += products(k + t, j + t, w);
      b += products(k + t + 2, j + t + 2, w);
      c += products(k + t + 4, j + t + 4, w);
      d += products(k + t + 6, j + t + 6, w);
    }
    const double* f = tail + (n - t);
    t = n - 8;
    a += Pair{f[0], f[1]} * products(k + t, j + t, w);
    b += Pair{f[2], f[3]} * products(k + t + 2, j + t + 2, w);
    c += Pair{f[4], f[5]} * products(k + t + 4, j + t + 4, w);
    d += Pair{f[6], f[7]} * products(k + t + 6, j + t + 6, w);
    const Pair sum = (a + b) + (c + d);
    return (sum[0] + sum[1]) * values_.common();
  }

  /// No column stands twice in a row, so four at a time need not wait for each other.
  template <class I>
  void add_of(Index k, const I* j, double a, double* w, Index n) const {
    const double scale = a * values_.common();
    Index t = 0;
    for (; t + 4 <= n; t += 4) {
      double *first = w + j[t], *second = w + j[t + 1], *third = w + j[t + 2], *fourth = w + j[t + 3];
      const double p = *first + scale * values_.apart(k + t), q = *second + scale * values_.apart(k + t + 1),
                   r = *third + scale * values_.apart(k + t + 2), s = *fourth + scale * values_.apart(k + t + 3);
      *first = p;
      *second = q;
      *third = r;
      *fourth = s;
    }
    for (; t < n; ++t) w[j[t]] += scale * values_.apart(k + t);
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
};

}  // namespace dualgap
