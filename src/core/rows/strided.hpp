// Rows of an array in any other layout (Fortran order, slices, reversed): strides in elements, used in place.
#pragma once

#include <algorithm>

#include "base/types.hpp"
#include "rows/sample.hpp"

namespace dualgap {

template <class T>
class StridedRows {
 public:
  StridedRows(const T* data, Index rows, Index cols, Index row_stride, Index col_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index entries(Index) const { return cols_; }
  Index entries() const { return rows_ * cols_; }
  StridedRows thinned(Sample sample) const {
    StridedRows fewer(data_, rows_ / sample.step(), cols_, row_stride_, col_stride_);
    fewer.sample_ = sample;
    return fewer;
  }

  double dot(Index i, const double* w) const {
    const T* x = data_ + sample_(i) * row_stride_;
    double a = 0, b = 0;
    Index j = 0;
    for (; j + 2 <= cols_; j += 2) {
      a += static_cast<double>(x[j * col_stride_]) * w[j];
      b += static_cast<double>(x[(j + 1) * col_stride_]) * w[j + 1];
    }
    if (j < cols_) a += static_cast<double>(x[j * col_stride_]) * w[j];
    return a + b;
  }
  void add(Index i, double a, double* w) const {
    const T* x = data_ + sample_(i) * row_stride_;
    for (Index j = 0; j < cols_; ++j) w[j] += a * static_cast<double>(x[j * col_stride_]);
  }
  template <class F>
  void view(Index i, F f) const {
    f(View{data_ + sample_(i) * row_stride_, cols_, col_stride_});
  }

  void prefetch(Index i) const {
    const T* x = data_ + sample_(i) * row_stride_;
    for (Index j = 0; j < std::min<Index>(cols_, 64); ++j) __builtin_prefetch(x + j * col_stride_);
  }
  void prefetch_place(Index) const {}

 private:
  struct View {
    const T* x;
    Index size, stride;
    Index column(Index k) const { return k; }
    double value(Index k) const { return static_cast<double>(x[k * stride]); }
  };

  const T* data_;
  Index rows_, cols_, row_stride_, col_stride_;
  Sample sample_{};
};

}  // namespace dualgap
