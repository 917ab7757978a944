// Rows packed for block products, in float32 (for a solver) or float64 (for the judge and for prediction): dense where
// that is the cheaper product, sparse otherwise. A product has few rows on its left and many on its right.
#pragma once

#include <cstring>
#include <vector>

#include "base/team.hpp"
#include "mercer/buffer.hpp"
#include "mercer/kernel.hpp"
#include "rows/rows.hpp"

namespace dualgap {

enum class Layout { dense, sparse };
/// May work be given up when `team.between` says so?
enum class Patience { may_leave, to_the_end };

/// Dense unless the data is so sparse that a product over its entries is cheaper, or a dense copy would be too large.
Layout layout_for(const Kernel& kernel, const AnyRows& rows);

/// About the mean of the rows, for kernels that do not change when all rows move together (products of centred rows
/// round less); empty for the others.
std::vector<double> common_shift(const Kernel& kernel, const AnyRows& rows, Layout layout);

/// The many. Dense: panels of `width` rows side by side, feature after feature (simd/mercer_ops.inl).
template <class T>
struct Right {
  static constexpr Index width = simd::panel_bytes / static_cast<Index>(sizeof(T));
  Layout layout = Layout::dense;
  Index count = 0, cols = 0;
  Buffer<T> panels;                   // dense
  std::vector<Index> starts;          // sparse: where each row's entries begin, and the end
  std::vector<std::int32_t> columns;  // sparse
  std::vector<T> values;              // sparse
  std::vector<T> norms;               // ‖x‖²

  T* at(Index row) { return panels.data() + (row / width) * cols * width + row % width; }
  const T* at(Index row) const { return const_cast<Right*>(this)->at(row); }
  /// Takes the rows ids[0 … count), less `shift` (empty: nothing) where the layout is dense. False: given up.
  bool pack(const AnyRows& rows, const std::uint32_t* ids, Index count, Layout layout, const std::vector<double>& shift,
            Team& team, Patience patience);
};

/// The few. Dense: row after row. Sparse: a table with a line a feature, so that one sparse row of the right meets them
/// all at once.
template <class T>
struct Left {
  Layout layout = Layout::dense;
  Index count = 0, cols = 0;
  Buffer<T> values;
  std::vector<Index> touched;  // sparse: what is not zero
  std::vector<T> norms;

  /// How many rows a product should have on its left.
  static Index at_once(Layout layout, Index cols) {
    if (layout == Layout::dense) return std::clamp<Index>((1 << 20) / cols, 8, 64);
    return std::clamp<Index>((4 << 20) / (cols * static_cast<Index>(sizeof(T))), 1, 64);
  }
  /// Takes rows of a matrix, as Right::pack does.
  void pack(const AnyRows& rows, const std::uint32_t* ids, Index count, Layout layout,
            const std::vector<double>& shift);
  /// Takes rows of a packed set.
  void pick(const Right<T>& all, const std::uint32_t* places, Index count);

 private:
  void begin(Layout layout, Index cols, Index count);
  void set(Index row, Index column, T value) {
    const Index at = column * count + row;
    values.data()[at] = value;
    touched.push_back(at);
  }
  Index table_ = 0;  // how much of `values` is a table of zeros but for what was touched
};

/// Kernel values of `left` with the rows [first, first + count) of `right`, `first` the first of a panel: those of
/// left row k to target(k)[0 … count).
template <class T, class Target>
void kernel_block(const Kernel& kernel, const Left<T>& left, const Right<T>& right, Index first, Index count,
                  Target target) {
  constexpr Index rows_at_once = 32, panels_at_once = 4, wide = panels_at_once * Right<T>::width;
  alignas(64) T products[rows_at_once * wide];
  const auto& simd = simd::active().mercer.of<T>();
  for (Index c = 0; c < count; c += wide) {
    const Index size = std::min(wide, count - c);
    for (Index r = 0; r < left.count; r += rows_at_once) {
      const Index rows = std::min(rows_at_once, left.count - r);
      if (left.layout == Layout::dense)
        kernel.over_panels(products, wide, left.values.data() + r * left.cols, rows, right.at(first + c),
                           (size + Right<T>::width - 1) / Right<T>::width, left.cols);
      else
        for (Index j = 0; j < size; ++j) {
          const Index e = right.starts[first + c + j];
          T sums[rows_at_once];
          simd.spread(sums, right.values.data() + e, right.columns.data() + e, right.starts[first + c + j + 1] - e,
                      left.values.data() + r, rows, left.count);
          for (Index k = 0; k < rows; ++k) products[k * wide + j] = sums[k];
        }
      for (Index k = 0; k < rows; ++k)
        kernel.finish(target(r + k) + c, products + k * wide, right.norms.data() + first + c, left.norms[r + k], size);
    }
  }
}

}  // namespace dualgap
