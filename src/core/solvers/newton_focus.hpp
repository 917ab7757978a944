// The rows that Newton watches. Far from its kink the dual variable of a row rests at a bound: while w stays near where
// that was seen, the row needs no score, and its part of the objective is linear. On most data nine rows in ten rest.
#pragma once

#include <cstdint>
#include <vector>

#include "base/blocks.hpp"
#include "base/row_vector.hpp"

namespace dualgap {

class Focus {
 public:
  explicit Focus(Index n) : n_(n), blocks_(n, Blocks::light) {}

  bool everyone() const { return rows_.empty(); }
  const RowNumbers& rows() const { return rows_; }
  Index count() const { return blocks_.n; }
  /// Of the rows watched.
  const Blocks& blocks() const { return blocks_; }

  void watch(RowNumbers rows) {
    rows_ = std::move(rows);
    blocks_ = Blocks(rows_.empty() ? n_ : static_cast<Index>(rows_.size()), Blocks::light);
  }
  void watch_everyone() { watch({}); }

  /// f(row) for every row watched of a block.
  template <class F>
  void each(Index block, F f) const {
    each(blocks_.begin(block), blocks_.end(block), f);
  }
  /// The same for places [begin, end) of the rows watched.
  template <class F>
  void each(Index begin, Index end, F f) const {
    if (rows_.empty())
      for (Index i = begin; i < end; ++i) f(i);
    else
      for (Index k = begin; k < end; ++k) f(static_cast<Index>(rows_[k]));
  }

 private:
  Index n_;
  Blocks blocks_;
  RowNumbers rows_;
};

}  // namespace dualgap
