#include "text/number.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace dualgap::text::detail {

namespace {

constexpr auto powers_of_five = [] {
  struct {
    std::uint64_t of[28];
  } table{};
  table.of[0] = 1;
  for (int k = 1; k < 28; ++k) table.of[k] = table.of[k - 1] * 5;
  return table;
}();

/// high · 2⁶⁴ / divisor for high < divisor: the quotient, and whether something is left over.
std::uint64_t divide(std::uint64_t high, std::uint64_t low, std::uint64_t divisor, bool& left_over) {
#if defined(__x86_64__)
  std::uint64_t quotient, remainder;
  asm("divq %4" : "=a"(quotient), "=d"(remainder) : "a"(low), "d"(high), "r"(divisor) : "cc");
#else
  const unsigned __int128 whole = (static_cast<unsigned __int128>(high) << 64) | low;
  const auto quotient = static_cast<std::uint64_t>(whole / divisor);
  const auto remainder = static_cast<std::uint64_t>(whole % divisor);
#endif
  left_over = remainder != 0;
  return quotient;
}

/// bits · 2ᵖ for bits ≥ 2⁶³, with `more` when something below the last bit was cut off; far from the exponent's limits.
double assemble(std::uint64_t bits, bool more, int power) {
  std::uint64_t kept = bits >> 11;
  const std::uint64_t rest = bits & 2047;
  kept += rest > 1024 || (rest == 1024 && (more || (kept & 1)));
  // 2⁵² ≤ kept ≤ 2⁵³: its leading bit adds one to the exponent field, a carry another
  return std::bit_cast<double>((static_cast<std::uint64_t>(power + 11 + 52 + 1023 - 1) << 52) + kept);
}

/// Too large or too small for from_chars: infinity or zero.
double beyond_range(const char* p, const char* end) {
  int place = 0;  // of the first digit that counts: 10^place
  bool seen = false, point = false;
  for (; p != end && (*p | 32) != 'e'; ++p) {
    if (*p == '.') point = true;
    if (!is_digit(*p)) continue;
    seen |= *p != '0';
    if (seen && !point && place < (1 << 28)) ++place;
    if (!seen && point && place > -(1 << 28)) --place;
  }
  long long exponent = 0;
  if (p != end) {
    const bool minus = *++p == '-';
    for (; p != end; ++p)
      if (is_digit(*p)) exponent = std::min(exponent * 10 + (*p - '0'), 1LL << 40);
    if (minus) exponent = -exponent;
  }
  return place + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace

double scale_exactly(std::uint64_t m, int e) {
  const int up = std::countl_zero(m);
  const std::uint64_t top = m << up;
  bool more = false;
  if (e >= 0) {
    const std::uint64_t five = powers_of_five.of[e];
    const int lift = std::countl_zero(five);
    const unsigned __int128 product = static_cast<unsigned __int128>(top) * (five << lift);
    auto high = static_cast<std::uint64_t>(product >> 64);
    auto low = static_cast<std::uint64_t>(product);
    int power = 64 - up - lift + e;
    if (!(high >> 63)) {
      high = (high << 1) | (low >> 63);
      low <<= 1;
      --power;
    }
    return assemble(high, low != 0, power);
  }
  const std::uint64_t five = powers_of_five.of[-e];
  const int lift = std::countl_zero(five);
  const std::uint64_t divisor = five << lift;
  const bool above = top >= divisor;
  const std::uint64_t quotient = above ? divide(top >> 1, top << 63, divisor, more) : divide(top, 0, divisor, more);
  return assemble(quotient, more, lift - up + e - (above ? 63 : 64));
}

bool any_number(const char* begin, const char* end, double& value) {
  const char* p = begin;
  const bool minus = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  if (p == end || *p == '-' || *p == '+' || std::find(p, end, '(') != end) return false;
  double x = 0;
  const auto [stop, problem] = std::from_chars(p, end, x);
  if (stop != end || problem == std::errc::invalid_argument) return false;
  if (problem == std::errc::result_out_of_range) x = beyond_range(p, end);
  value = minus ? -x : x;
  return true;
}

}  // namespace dualgap::text::detail
