// Rows packed for block products: a copy in float32 (for a solver) or float64 (for the judge and for prediction) of
// some rows of a matrix, dense where that is the cheaper product, sparse otherwise.
#pragma once

#include <vector>

#include "base/blas.hpp"
#include "mercer/kernel.hpp"
#include "rows/rows.hpp"

namespace dualgap {

enum class Layout { dense, sparse };

/// Dense unless the data is so sparse that a product over its entries is cheaper, or a dense copy would be too large.
Layout layout_for(const Kernel& kernel, const AnyRows& rows);

template <class T>
struct Pack {
  Layout layout = Layout::dense;
  Index count = 0, cols = 0;
  std::vector<T> values;              // dense: count × cols
  std::vector<Index> starts, ends;    // sparse: where each row's entries are
  std::vector<std::int32_t> columns;  // sparse
  std::vector<T> norms;               // ‖x‖²

  const T* row(Index k) const { return values.data() + k * cols; }
  Index bytes() const {
    return static_cast<Index>(values.size() * sizeof(T) + columns.size() * 4 + norms.size() * sizeof(T));
  }
};

/// Packs the rows ids[0 … count), less `shift` (empty: nothing) where the layout is dense.
template <class T>
void pack(const AnyRows& rows, const std::uint32_t* ids, Index count, Layout layout, const std::vector<double>& shift,
          Pack<T>& out);

/// The mean of the rows, for kernels that do not change when all rows move together; empty for the others.
std::vector<double> common_shift(const Kernel& kernel, const AnyRows& rows, Layout layout);

/// Kernel values of the few rows `left` with the rows [first, first + count) of `right`, each finished row handed to
/// deliver(k, values). `room` is working memory, kept by the caller.
template <class T>
struct BlockRoom {
  std::vector<T> products, table, sums, finished;
};
template <class T, class Deliver>
void kernel_block(const Kernel& kernel, const Blas& blas, const Pack<T>& left, const Pack<T>& right, Index first,
                  Index count, BlockRoom<T>& room, Deliver deliver);

}  // namespace dualgap

#include "mercer/block.inl"
