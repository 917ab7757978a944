#include "text/writer.hpp"

#include <charconv>
#include <cmath>

#include "base/team.hpp"

namespace dualgap::text {

namespace {

constexpr std::size_t longest_number = 32;  // "-1.7976931348623157e+308" and a separator

/// A text that grows in large steps and is written through a plain pointer.
class Page {
 public:
  char* room(std::size_t bytes) {
    if (text_.size() - used_ < bytes) text_.resize(2 * text_.size() + bytes + (1 << 16));
    return text_.data() + used_;
  }
  void until(const char* end) { used_ = static_cast<std::size_t>(end - text_.data()); }
  std::string take() {
    text_.resize(used_);
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t used_ = 0;
};

template <class T>
char* put(char* to, T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::abs(value) < T{1e6} && value == std::trunc(value) && !(value == 0 && std::signbit(value)))
      return std::to_chars(to, to + longest_number, static_cast<std::int32_t>(value)).ptr;
  return std::to_chars(to, to + longest_number, value).ptr;
}

char* put_labels(char* to, const Sheet& sheet, Index row) {
  if (sheet.label_starts == nullptr) return put(to, sheet.labels[row]);
  for (Index k = sheet.label_starts[row]; k < sheet.label_starts[row + 1]; ++k) {
    if (k > sheet.label_starts[row]) *to++ = ',';
    to = put(to, sheet.labels[k]);
  }
  return to;
}

template <class T, class I, class J>
std::string write_rows(const Sheet& sheet, const T* values, const I* columns, const J* starts, Index from, Index to) {
  Page page;
  for (Index i = from; i < to; ++i) {
    const Index labels = sheet.label_starts ? sheet.label_starts[i + 1] - sheet.label_starts[i] : 1;
    char* p = page.room((labels + 2 + 2 * static_cast<std::size_t>(starts[i + 1] - starts[i])) * longest_number);
    p = put_labels(p, sheet, i);
    if (sheet.queries) {
      for (const char c : {' ', 'q', 'i', 'd', ':'}) *p++ = c;
      p = put(p, sheet.queries[i]);
    }
    for (Index k = starts[i]; k < starts[i + 1]; ++k) {
      *p++ = ' ';
      p = put(p, static_cast<Index>(columns[k]) + sheet.first_column);
      *p++ = ':';
      p = put(p, values[k]);
    }
    *p++ = '\n';
    page.until(p);
  }
  return page.take();
}

}  // namespace

std::vector<std::string> write_svmlight(const Sheet& sheet, int threads) {
  std::vector<std::string> parts(static_cast<std::size_t>(threads));
  Team team(threads);
  std::visit(
      [&](const auto* values, const auto* columns, const auto* starts) {
        team.for_each(threads, [&](Index part) {
          parts[part] = write_rows(sheet, values, columns, starts, sheet.rows * part / threads,
                                   sheet.rows * (part + 1) / threads);
        });
      },
      sheet.values, sheet.columns, sheet.starts);
  return parts;
}

}  // namespace dualgap::text
