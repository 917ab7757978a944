// Rows of a C-ordered array: contiguous, float32 or float64, used in place.
#pragma once

#include <algorithm>

#include "base/types.hpp"
#include "rows/sample.hpp"
#include "simd/table.hpp"

namespace dualgap {

template <class T>
class DenseRows {
 public:
  DenseRows(const T* data, Index rows, Index cols, Index stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride), simd_(&simd::active()) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index entries(Index) const { return cols_; }
  Index entries() const { return rows_ * cols_; }
  DenseRows thinned(Sample sample) const {
    DenseRows fewer(data_, rows_ / sample.step(), cols_, stride_);
    fewer.sample_ = sample;
    return fewer;
  }

  double dot(Index i, const double* w) const {
    if constexpr (sizeof(T) == 8)
      return simd_->dot_f64(row(i), w, cols_);
    else
      return simd_->dot_f32(row(i), w, cols_);
  }
  void add(Index i, double a, double* w) const {
    if constexpr (sizeof(T) == 8)
      simd_->add_f64(a, row(i), w, cols_);
    else
      simd_->add_f32(a, row(i), w, cols_);
  }
  /// f(view): size, column(k), value(k).
  template <class F>
  void view(Index i, F f) const {
    f(View{row(i), cols_});
  }

  /// Asks for the start of a row that will be needed soon; the processor's own prefetcher follows a long one.
  void prefetch(Index i) const {
    const char* line = reinterpret_cast<const char*>(row(i));
    const Index bytes = std::min<Index>(cols_ * static_cast<Index>(sizeof(T)), 1024);
    for (Index k = 0; k < bytes; k += 64) __builtin_prefetch(line + k);
  }
  void prefetch_place(Index) const {}

  const T* row(Index i) const { return data_ + sample_(i) * stride_; }

 private:
  struct View {
    const T* x;
    Index size;
    Index column(Index k) const { return k; }
    double value(Index k) const { return static_cast<double>(x[k]); }
  };

  const T* data_;
  Index rows_, cols_, stride_;
  Sample sample_{};
  const simd::Table* simd_;
};

}  // namespace dualgap
