// Rows of whatever storage, looked up at every call: for methods whose work beside a row hides that, so that they are
// compiled once a loss and not once a loss and storage.
#pragma once

#include "rows/rows.hpp"

namespace dualgap {

class SomeRows {
 public:
  explicit SomeRows(const AnyRows& rows) : rows_(rows) {}

  Index cols() const { return count_cols(rows_); }
  Index entries() const { return count_entries(rows_); }
  Index entries(Index i) const {
    return std::visit([&](const auto& r) { return r.entries(i); }, rows_);
  }
  double dot(Index i, const double* w) const {
    return std::visit([&](const auto& r) { return r.dot(i, w); }, rows_);
  }
  void add(Index i, double a, double* w) const {
    std::visit([&](const auto& r) { r.add(i, a, w); }, rows_);
  }
  void prefetch_place(Index i) const {
    std::visit([&](const auto& r) { r.prefetch_place(i); }, rows_);
  }
  void prefetch(Index i) const {
    std::visit([&](const auto& r) { r.prefetch(i); }, rows_);
  }
  template <class F>
  void view(Index i, F f) const {
    std::visit([&](const auto& r) { r.view(i, f); }, rows_);
  }

 private:
  const AnyRows& rows_;
};

}  // namespace dualgap
