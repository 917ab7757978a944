// What a row can do, and the one list of storages. A solver visits this list once per solve.
//
//   rows(), cols(), entries(i)   sizes
//   dot(i, w)                    xᵢᵀw in float64
//   add(i, a, w)                 w += a xᵢ
//   view(i, f)                   f(row) with row.size, row.column(k), row.value(k): for passes that need the entries
//   prefetch_place(i), prefetch(i)   where the row is; the row itself
#pragma once

#include <type_traits>
#include <variant>

#include "rows/csr.hpp"
#include "rows/dense.hpp"
#include "rows/strided.hpp"

namespace dualgap {

using AnyRows = std::variant<DenseRows<double>, DenseRows<float>, StridedRows<double>, StridedRows<float>,
                             CsrRows<StoredValues<double>>, CsrRows<StoredValues<float>>, CsrRows<EqualValues>>;

inline Index count_rows(const AnyRows& rows) {
  return std::visit([](const auto& r) { return r.rows(); }, rows);
}
inline Index count_cols(const AnyRows& rows) {
  return std::visit([](const auto& r) { return r.cols(); }, rows);
}
inline Index count_entries(const AnyRows& rows) {
  return std::visit([](const auto& r) { return r.entries(); }, rows);
}

/// A sample of the rows, in place.
inline AnyRows thinned(const AnyRows& rows, Sample sample) {
  return std::visit([&](const auto& r) -> AnyRows { return r.thinned(sample); }, rows);
}

/// ‖xᵢ‖²: by wide instructions where the values lie side by side as doubles, otherwise in four sums, so that no
/// addition waits for the one before.
template <class Rows>
double squared_norm(const Rows& rows, Index i) {
  if constexpr (std::is_same_v<Rows, CsrRows<EqualValues>>)  // counted, not read
    return rows.values().value * rows.values().value * static_cast<double>(rows.entries(i));
  if constexpr (std::is_same_v<Rows, DenseRows<double>>) return rows.dot(i, rows.row(i));
  if constexpr (std::is_same_v<Rows, CsrRows<StoredValues<double>>>) {
    const double* x = rows.values().data + rows.pattern().start(i);
    return simd::active().dot_f64(x, x, rows.entries(i));
  }
  double a = 0, b = 0, c = 0, d = 0;
  rows.view(i, [&](const auto& row) {
    Index k = 0;
    for (; k + 4 <= row.size; k += 4) {
      a += row.value(k) * row.value(k);
      b += row.value(k + 1) * row.value(k + 1);
      c += row.value(k + 2) * row.value(k + 2);
      d += row.value(k + 3) * row.value(k + 3);
    }
    for (; k < row.size; ++k) a += row.value(k) * row.value(k);
  });
  return (a + b) + (c + d);
}

}  // namespace dualgap
