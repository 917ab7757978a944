#include "text/parser.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "text/number.hpp"

namespace dualgap::text {

namespace {

constexpr const char* feature_wanted = "a feature as column:value";
constexpr std::size_t shown = 32;  // characters of a bad word that an error repeats

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string printable(const char* begin, const char* end) {
  std::string text;
  for (const char* p = begin; p != end; ++p) {
    if (static_cast<std::size_t>(p - begin) == shown) return text + "...";
    if (*p >= 32 && *p < 127) {
      text += *p;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(*p));
      text += code;
    }
  }
  return text;
}

}  // namespace

// An entry takes four characters or more ("1:1 "), a row two ("1\n"), a label of a list two ("1,").
Piece::Piece(std::size_t longest)
    : columns(new Index[longest / 4 + 2]),
      values(new double[longest / 4 + 2]),
      ends(new Index[longest / 2 + 2]),
      labels(new double[longest / 2 + 2]),
      label_counts(new std::int32_t[longest / 2 + 2]),
      queries(new Index[longest / 2 + 2]) {}

const char* Piece::fail(const char* at, const char* expected) {
  const char* stop = at;
  while (stop != end_ && !ends_word(*stop)) ++stop;
  if (stop == at && stop != end_ && *stop != '\n') ++stop;
  std::string found = "the end of the line";
  if (stop != at) {
    found = "'";
    found.append(printable(at, stop)).append("'");
  }
  fault = Fault{lines + 1, carry.column + (at - line_start_) + 1, found, expected};
  return nullptr;
}

void Piece::parse(const char* begin, const char* end, End cut, const Format& format, const Carry& before) {
  entries = rows = starts = label_total = query_total = lines = 0;
  lowest = INT64_MAX;
  highest = first_with_query = first_without_query = -1;
  fault.reset();
  carry = before;
  format_ = format;
  line_start_ = begin;
  end_ = end;
  if (cut == End::torn && !carry.comment && std::memchr(begin, '#', end - begin) == nullptr) {
    fail(begin, "a shorter word");
    return;
  }
  for (const char* p = begin; p != nullptr;) {
    if (carry.comment) p = static_cast<const char*>(std::memchr(p, '\n', end - p + 1));
    while (is_blank(*p)) ++p;
    if (*p == '\n') {
      if (p == end) break;
      end_row();
      carry.comment = false;
      ++lines;
      line_start_ = ++p;
      carry.column = 0;
    } else if (*p == '#') {
      carry.comment = true;
    } else {
      p = row(p);
    }
  }
  carry.column += end - line_start_;
}

void Piece::finish() { end_row(); }

void Piece::end_row() {
  if (carry.expect == Carry::Expect::label) return;
  if (carry.expect == Carry::Expect::query && first_without_query < 0) first_without_query = lines;
  ends[rows++] = entries;
  carry.expect = Carry::Expect::label;
  carry.previous = -1;
}

/// The word at p, whatever it is due to be; features are then read as long as they go on.
const char* Piece::row(const char* p) {
  using Expect = Carry::Expect;
  if (carry.expect == Expect::label) {
    ++starts;
    carry.expect = Expect::query;
    if (format_.labels == Labels::many) return label_list(p);
    const char* q = read_number(p, labels[label_total]);
    if (q == nullptr) return fail(p, "a number as the label");
    ++label_total;
    return q;
  }
  if (carry.expect == Expect::query) {
    carry.expect = Expect::feature;
    if (std::memcmp(p, "qid:", 4) == 0) return query(p);
    if (first_without_query < 0) first_without_query = lines;
  }
  return features(p);
}

const char* Piece::label_list(const char* p) {
  const char* stop = word_end(p);
  std::int32_t& count = label_counts[starts - 1];
  count = 0;
  if (std::memchr(p, ':', stop - p) != nullptr) return p;  // no label at all: the word is the first feature
  for (const char* q = p;; ++q) {
    const char* comma = std::find(q, stop, ',');
    if (!detail::any_number(q, comma, labels[label_total])) return fail(q, "a number as the label");
    ++label_total;
    ++count;
    q = comma;
    if (comma == stop) return stop;
  }
}

const char* Piece::query(const char* p) {
  const char* q = p + 4;
  const bool minus = *q == '-';
  q += minus || *q == '+';
  Index id = 0;
  if (!read_whole(q, id) || !ends_word(*q)) return fail(p, "qid: with a whole number below 2**63");
  queries[query_total++] = minus ? -id : id;
  if (first_with_query < 0) first_with_query = lines;
  return q;
}

const char* Piece::features(const char* p) {
  // a row of a one-based file starts as if column 0 were behind it already
  Index previous = std::max(carry.previous, format_.base == Base::one ? Index{0} : Index{-1}), k = entries;
  Index* const column = columns.get();
  double* const value = values.get();
  const char* next = nullptr;
  for (;; p = next) {
    const char* q = p + (*p == '+' && detail::is_digit(p[1]));
    if (!read_whole(q, column[k])) {
      if (detail::is_digit(*q)) return fail(p, "a column below 2**63");
      return fail(p, *p == '-' ? "a column that is not negative" : feature_wanted);
    }
    if (*q != ':') return fail(p, feature_wanted);
    if (column[k] <= previous)
      return fail(p, column[k] == 0 && carry.previous < 0 && k == entries ? "columns from 1, because zero_based=False"
                                                                          : "columns that increase along the line");
    next = read_number(q + 1, value[k]);
    if (next == nullptr) return fail(q + 1, "a number as the value");
    previous = column[k++];
    if (*next == ' ') ++next;
    if (!detail::is_digit(*next)) break;
  }
  lowest = std::min(lowest, column[entries]);
  highest = std::max(highest, previous);
  entries = k;
  carry.previous = previous;
  return next;
}

}  // namespace dualgap::text
