// Decimal text to the nearest double, exactly rounded.
//
// Eight characters are looked at as one 64-bit word: where the digits end and what they are worth takes a dozen
// instructions and no branch. A decimal m · 10ᵉ then becomes a double by one of three ways, each exact:
// - m ≤ 2⁵³ and |e| ≤ 22: m and 10ᵉ are doubles, so one division or product rounds once (Clinger 1990);
// - m < 10¹⁹ and |e| ≤ 27: the quotient m / 5⁻ᵉ or the product m · 5ᵉ in 128-bit integers, its remainder telling on
//   which side of a tie it lies;
// - anything else (more digits, huge exponents, inf, nan): std::from_chars.
//
// Every function here may read up to 8 bytes past the characters it uses; the text must be padded by `padding` bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace dualgap::text {

inline constexpr std::size_t padding = 64;

namespace detail {

inline constexpr double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t whole_power_of_ten[] = {1ull,
                                                       10ull,
                                                       100ull,
                                                       1000ull,
                                                       10000ull,
                                                       100000ull,
                                                       1000000ull,
                                                       10000000ull,
                                                       100000000ull,
                                                       1000000000ull,
                                                       10000000000ull,
                                                       100000000000ull,
                                                       1000000000000ull,
                                                       10000000000000ull,
                                                       100000000000000ull,
                                                       1000000000000000ull,
                                                       10000000000000000ull,
                                                       100000000000000000ull,
                                                       1000000000000000000ull,
                                                       10000000000000000000ull};

/// Eight characters less '0' each, the first in the lowest byte.
inline std::uint64_t eight_characters(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word ^ 0x3030303030303030u;
}

/// The top bit of every byte that is no digit, right up to the first such byte.
inline std::uint64_t no_digit(std::uint64_t word) {
  return ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
}

/// How many digits come first, where `stops` is not zero.
inline int digit_count(std::uint64_t stops) { return std::countr_zero(stops) >> 3; }

/// What eight digits are worth.
inline std::uint64_t eight_digits(std::uint64_t word) {
  word = word * 10 + (word >> 8);
  return ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
          ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
         32;
}

/// What the first `count` < 8 digits are worth: shifted up, so that zeros stand before them.
inline std::uint64_t leading_digits(std::uint64_t word, int count) {
  return eight_digits((word << (56 - 8 * count)) << 8);
}

/// m · 10ᵉ for 0 < m < 2⁶⁴ and |e| ≤ 27, rounded to nearest, ties to even.
double scale_exactly(std::uint64_t m, int e);

/// All of [begin, end) as a number, or false. Takes what strtod takes in the C locale, hexadecimals excepted.
bool any_number(const char* begin, const char* end, double& value);

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace detail

/// Blanks, line ends and the start of a comment: what a word ends at.
inline bool ends_word(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '#'; }

/// Reads a whole number below 2⁶³ at p and moves p behind it; false if there is none.
inline bool read_whole(const char*& p, std::int64_t& value) {
  using namespace detail;
  const std::uint64_t word = eight_characters(p), stops = no_digit(word);
  if (stops != 0) [[likely]] {
    const int count = digit_count(stops);
    value = static_cast<std::int64_t>(leading_digits(word, count));
    p += count;
    return count > 0;
  }
  std::uint64_t total = 0;
  const char* q = p;
  for (; is_digit(*q); ++q) {
    if (total > (INT64_MAX - 9) / 10) return false;
    total = total * 10 + static_cast<std::uint64_t>(*q - '0');
  }
  value = static_cast<std::int64_t>(total);
  p = q;
  return true;
}

/// Adds the digits at p to m and moves p; false when m would outgrow 19 digits.
inline bool gather_digits(const char*& p, std::uint64_t& m) {
  using namespace detail;
  for (;;) {
    const std::uint64_t word = eight_characters(p), stops = no_digit(word);
    const int count = stops == 0 ? 8 : digit_count(stops);
    if (m >= whole_power_of_ten[19 - count]) return false;
    if (stops != 0) {
      m = m * whole_power_of_ten[count] + leading_digits(word, count);
      p += count;
      return true;
    }
    m = m * 100000000u + eight_digits(word);
    p += 8;
  }
}

/// Reads the exponent behind an 'e' at p; false when there is none or it is absurd.
inline bool read_exponent(const char*& p, int& e) {
  const char* q = p + 1;
  const bool minus = *q == '-';
  q += minus || *q == '+';
  if (!detail::is_digit(*q)) return false;
  int power = 0;
  for (; detail::is_digit(*q); ++q) {
    power = power * 10 + (*q - '0');
    if (power > 9999) return false;
  }
  e += minus ? -power : power;
  p = q;
  return true;
}

/// The end of the word that starts at p; the text behind it must hold a blank or a line end somewhere.
inline const char* word_end(const char* p) {
  while (!ends_word(*p)) ++p;
  return p;
}

/// Reads a number at p, which must fill its word, and returns the word's end, or nullptr if it is no number.
inline const char* read_number(const char* p, double& value) {
  using namespace detail;
  const char* q = p;
  const bool minus = *q == '-';
  q += minus || *q == '+';
  std::uint64_t m = 0;
  int e = 0;
  const char* first = q;
  bool fits = gather_digits(q, m);
  bool any = q != first;
  if (fits && *q == '.') {
    const char* point = ++q;
    fits = gather_digits(q, m);
    e = static_cast<int>(point - q);
    any |= q != point;
  }
  if (fits && any && (*q | 32) == 'e') fits = read_exponent(q, e);
  if (fits && any && ends_word(*q)) [[likely]] {
    double x;
    if (m <= (1ull << 53) && e >= -22 && e <= 22)
      x = e < 0    ? static_cast<double>(static_cast<std::int64_t>(m)) / power_of_ten[-e]
          : e == 0 ? static_cast<double>(static_cast<std::int64_t>(m))
                   : static_cast<double>(static_cast<std::int64_t>(m)) * power_of_ten[e];
    else if (m != 0 && e >= -27 && e <= 27)
      x = scale_exactly(m, e);
    else
      return any_number(p, q, value) ? q : nullptr;
    value = minus ? -x : x;
    return q;
  }
  q = word_end(p);
  return any_number(p, q, value) ? q : nullptr;
}

}  // namespace dualgap::text
