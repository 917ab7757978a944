// The logistic loss of many margins at once. Included by ops.inl, once per level, after mercer_ops.inl (eˣ).

/// With e = e^−|m|:  log(1 + e) = 2 artanh(e / (2 + e)), whose series in s² ≤ 1/9 is below the rounding after 16 terms.
inline void logistic_of(Wide m, Wide& value, Wide& share) {
  const Wide zero = {}, e = exp_of(m > zero ? -m : m), s = e / (e + 2.0), square = s * s;
  Wide series = Wide{} + 1.0 / 31.0;
  for (int k = 29; k > 0; k -= 2) series = series * square + 1.0 / k;
  value = 2.0 * s * series + larger(-m, zero);
  share = (m > zero ? e : zero + 1.0) / (e + 1.0);
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
