// The logistic loss of many margins, and its conjugate at many duals, at once. Included by ops.inl, once per level,
// after mercer_ops.inl (eˣ).

/// 2 artanh s = log((1 + s) / (1 − s)) for |s| ≤ 1/3: the series is below the rounding after 16 terms.
inline Wide two_artanh(Wide s) {
  const Wide square = s * s;
  Wide series = Wide{} + 1.0 / 31.0;
  for (int k = 29; k > 0; k -= 2) series = series * square + 1.0 / k;
  return 2.0 * s * series;
}

/// log(1 + e^−|m|) is that of e / (2 + e).
inline void logistic_of(Wide m, Wide& value, Wide& share) {
  const Wide zero = {}, e = exp_of(m > zero ? -m : m);
  value = two_artanh(e / (e + 2.0)) + larger(-m, zero);
  share = (m > zero ? e : zero + 1.0) / (e + 1.0);
}

/// x > 0 is 2ᵏ times a number between √½ and √2.
inline Wide log_of(Wide x) {
  typedef std::uint64_t Bits __attribute__((vector_size(sizeof(Wide)), aligned(8), may_alias));
  const Bits bits = reinterpret_cast<const Bits&>(x), place = (bits >> 52) | 0x4330000000000000;  // 2⁵² + 1023 + k
  const Bits fraction = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
  const Wide m = reinterpret_cast<const Wide&>(fraction), k = reinterpret_cast<const Wide&>(place) - 4503599627371519.0;
  const auto high = m > 1.4142135623730951;
  const Wide near = high ? 0.5 * m : m, power = high ? k + 1.0 : k;
  return power * 6.93147180369123816490e-01 +
         (power * 1.90821492927058770002e-10 + two_artanh((near - 1.0) / (near + 1.0)));
}

/// −s log s − (1 − s) log(1 − s); 0 for s below all normal numbers.
inline Wide entropy_of(Wide s) {
  const Wide some = larger(s, Wide{} + 2.2250738585072014e-308);
  const Wide terms = (s - 1.0) * two_artanh(s / (s - 2.0)) - s * log_of(some);
  return s < some ? Wide{} : terms;
}

void logistic(const double* m, double* value, double* share, Int n) {
  Wide v, s;
  Int k = 0;
  for (; k + WIDTH <= n; k += WIDTH) {
    logistic_of(load(m + k), v, s);
    store(value + k, v);
    store(share + k, s);
  }
  Wide rest = {};
  for (Int t = k; t < n; ++t) rest[t - k] = m[t];
  logistic_of(rest, v, s);
  for (Int t = k; t < n; ++t) {
    value[t] = v[t - k];
    share[t] = s[t - k];
  }
}

void entropy(double* out, const double* s, Int n) {
  each(out, s, s, n, [](Wide x, Wide) { return entropy_of(x); });
}
