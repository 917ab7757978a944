// svmlight text to rows: one piece of text at a time, at a few cycles a byte.
//
//   line     [label] [qid:whole] (column:number)* [# comment]
//
// A piece ends at a line's end wherever there is one. Lines longer than a piece are cut between words; the state then
// goes on to the next piece (`Carry`). What comes out are columns as written, sorted as written, counted nowhere twice.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/types.hpp"

namespace dualgap::text {

enum class Labels { one, many };
enum class Base { zero, one, unknown };

struct Format {
  Labels labels = Labels::one;
  Base base = Base::unknown;
  bool queries = false;  // every row needs a qid, or none has one
};

/// A malformed place: which, what stood there, and what would have been right.
struct Fault {
  Index line = 0;    // from 1
  Index column = 0;  // from 1, in bytes
  std::string found, expected;
};

/// Where a piece of text stops inside a line, the next goes on.
struct Carry {
  enum class Expect { label, query, feature } expect = Expect::label;
  bool comment = false;
  Index previous = -1;  // the row's last column so far
  Index column = 0;     // bytes of the line so far
};

/// What one piece of text became. The arrays are as long as the longest piece can need, so nobody checks them.
class Piece {
 public:
  explicit Piece(std::size_t longest);

  enum class End { line, word, torn };  // torn: no line end and no blank anywhere in the piece

  /// Parses [begin, end); *end must be '\n' and `padding` bytes behind it readable.
  void parse(const char* begin, const char* end, End cut, const Format& format, const Carry& carry);
  /// Ends the last row of a text without a line end.
  void finish();

  std::unique_ptr<Index[]> columns;
  std::unique_ptr<double[]> values;
  std::unique_ptr<Index[]> ends;  // entries up to and with each finished row
  std::unique_ptr<double[]> labels;
  std::unique_ptr<std::int32_t[]> label_counts;  // for Labels::many
  std::unique_ptr<Index[]> queries;
  Index entries = 0, rows = 0, starts = 0, label_total = 0, query_total = 0;
  Index lines = 0;  // line ends passed
  Index lowest = INT64_MAX, highest = -1;
  Index first_with_query = -1, first_without_query = -1;  // their lines, from 0
  Carry carry;
  std::optional<Fault> fault;

 private:
  const char* row(const char* p);
  const char* features(const char* p);
  const char* label_list(const char* p);
  const char* query(const char* p);
  void end_row();
  const char* fail(const char* at, const char* expected);

  const char* end_ = nullptr;
  const char* line_start_ = nullptr;
  Format format_;
};

}  // namespace dualgap::text
