// Kernel values that problems over the same rows have in common. One-versus-one solves a problem for every two classes;
// a row takes part in one with each other class, and what all of these need of its kernel row is the part over its own
// class. The first problem that makes such a part leaves a copy here, the others take it over: half of a row's values.
//
// Values have the same bits whoever made them, so who comes first changes the time and never the model.
//
// Memory: the budget; what was not used for longest is driven out. All functions may be called by several threads.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mercer/lru.hpp"

namespace dualgap {

using Places = std::vector<std::uint32_t>;

class SharedRows {
 public:
  /// `class_of`: the class of every row, by id.
  SharedRows(std::span<const std::uint32_t> class_of, double budget);

  /// Where a class begins and ends among the rows of a problem.
  struct Range {
    Index begin, end;
  };
  /// The classes that these rows are, each whole and by id, one after the other; empty where they are anything else.
  std::vector<Range> ranges(const Places& ids) const;

  /// Copies k(row, rows of its class) to `out` where it is there.
  bool read(std::uint32_t id, float* out);
  /// Takes a copy of k(row, rows of its class).
  void keep(std::uint32_t id, const float* values);

  struct Tally {
    Index made = 0, taken = 0;  // parts that were left here, and parts that were found here
    double most_bytes = 0;
  };
  Tally tally() const;

 private:
  double bytes_of(std::uint32_t id) const;

  Places class_of_;              // by id
  std::vector<Places> classes_;  // their ids
  double budget_, bytes_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<float[]>> parts_;  // by id
  LastUsed order_;
  Tally tally_;
};

}  // namespace dualgap
