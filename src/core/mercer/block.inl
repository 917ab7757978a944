// kernel_block: products by the layout's own way, then the kernel's function of them.
#pragma once

#include <algorithm>

namespace dualgap {

inline void gemm(const Blas& blas, const char* ta, const char* tb, int m, int n, int k, const float* a, int lda,
                 const float* b, int ldb, float* c, int ldc, float beta = 0) {
  const float one = 1;
  blas.sgemm(ta, tb, &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c, &ldc);
}
inline void gemm(const Blas& blas, const char* ta, const char* tb, int m, int n, int k, const double* a, int lda,
                 const double* b, int ldb, double* c, int ldc, double beta = 0) {
  const double one = 1;
  blas.dgemm(ta, tb, &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c, &ldc);
}

/// Products of sparse rows: `width` rows of the left at a time stand column by column in a table.
template <class T>
void sparse_products(const Pack<T>& left, const Pack<T>& right, Index first, Index count, BlockRoom<T>& room) {
  const auto& simd = simd::active().mercer.of<T>();
  const Index most = std::clamp<Index>((4 << 20) / (left.cols * static_cast<Index>(sizeof(T))), 1, 64);
  for (Index begin = 0; begin < left.count; begin += most) {
    const Index width = std::min(most, left.count - begin);
    room.table.resize(left.cols * width);
    room.sums.resize(width);
    for (Index k = 0; k < width; ++k)
      for (Index e = left.starts[begin + k]; e < left.ends[begin + k]; ++e)
        room.table[left.columns[e] * width + k] = left.values[e];
    for (Index j = 0; j < count; ++j) {
      const Index e = right.starts[first + j];
      simd.spread(room.sums.data(), right.values.data() + e, right.columns.data() + e, right.ends[first + j] - e,
                  room.table.data(), width);
      for (Index k = 0; k < width; ++k) room.products[(begin + k) * count + j] = room.sums[k];
    }
    for (Index k = 0; k < width; ++k)  // only what was written: the table stays zero between uses
      for (Index e = left.starts[begin + k]; e < left.ends[begin + k]; ++e)
        room.table[left.columns[e] * width + k] = T(0);
  }
}

template <class T, class Deliver>
void kernel_block(const Kernel& kernel, const Blas& blas, const Pack<T>& left, const Pack<T>& right, Index first,
                  Index count, BlockRoom<T>& room, Deliver deliver) {
  room.products.resize(left.count * count);
  room.finished.resize(count);
  if (!kernel.by_product()) {
    for (Index k = 0; k < left.count; ++k)
      for (Index j = 0; j < count; ++j)
        room.products[k * count + j] = kernel.distance(left.row(k), right.row(first + j), left.cols);
  } else if (left.layout == Layout::sparse) {
    sparse_products(left, right, first, count, room);
  } else {
    const int m = static_cast<int>(count), n = static_cast<int>(left.count), p = static_cast<int>(left.cols);
    gemm(blas, "T", "N", m, n, p, right.row(first), p, left.row(0), p, room.products.data(), m);
  }
  for (Index k = 0; k < left.count; ++k) {
    kernel.finish(room.finished.data(), room.products.data() + k * count, right.norms.data() + first, left.norms[k],
                  count);
    deliver(k, static_cast<const T*>(room.finished.data()));
  }
}

}  // namespace dualgap
