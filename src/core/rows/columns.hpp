// A copy of the rows by columns, without their zeros, for methods that go over columns: 12 bytes an entry.
#pragma once

#include <cstdint>
#include <vector>

#include "rows/rows.hpp"

namespace dualgap {

class Columns {
 public:
  explicit Columns(const AnyRows& rows) {
    std::visit([this](const auto& r) { copy(r); }, rows);
  }

  Index entries() const { return static_cast<Index>(values_.size()); }
  Index size(Index j) const { return starts_[j + 1] - starts_[j]; }
  /// f(i, x) for every entry of column j
  template <class F>
  void each(Index j, F f) const {
    for (Index k = starts_[j]; k < starts_[j + 1]; ++k) f(static_cast<Index>(rows_[k]), values_[k]);
  }

 private:
  template <class Rows>
  void copy(const Rows& rows) {
    starts_.assign(static_cast<std::size_t>(rows.cols() + 1), 0);
    const auto walk = [&](auto f) {
      for (Index i = 0; i < rows.rows(); ++i)
        rows.view(i, [&](const auto& row) {
          for (Index k = 0; k < row.size; ++k)
            if (const double x = row.value(k); x != 0) f(i, row.column(k), x);
        });
    };
    walk([&](Index, Index j, double) { ++starts_[j + 1]; });
    for (std::size_t j = 1; j < starts_.size(); ++j) starts_[j] += starts_[j - 1];
    rows_.resize(static_cast<std::size_t>(starts_.back()));
    values_.resize(rows_.size());
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    walk([&](Index i, Index j, double x) {
      rows_[next[j]] = static_cast<std::uint32_t>(i);
      values_[next[j]++] = x;
    });
  }

  std::vector<Index> starts_;
  std::vector<std::uint32_t> rows_;
  std::vector<double> values_;
};

}  // namespace dualgap
