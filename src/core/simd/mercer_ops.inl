// The operations of kernel machines: exponentials of distances, sums of kernel rows, and the two passes of a pair step.
// Included by ops.inl, once per level.

typedef float Full __attribute__((vector_size(8 * WIDTH), aligned(4), may_alias));
typedef std::int32_t Ints32 __attribute__((vector_size(8 * WIDTH), aligned(4), may_alias));
typedef std::int64_t Ints64 __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

inline void store(double* x, Wide v) { *reinterpret_cast<Wide*>(x) = v; }
inline void store(float* x, Full v) { *reinterpret_cast<Full*>(x) = v; }
inline Wide full(const double* x) { return *reinterpret_cast<const Wide*>(x); }
inline Full full(const float* x) { return *reinterpret_cast<const Full*>(x); }
template <class V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}

/// eˣ for x ≤ 0: x = k ln 2 + r with |r| ≤ ½ ln 2, a Taylor polynomial in r (its rest is below the rounding), times 2ᵏ.
inline Wide exp_of(Wide x) {
  x = larger(x, Wide{} - 708.0);
  const double round = 6755399441055744.0;  // 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits
  const Wide shifted = x * 1.4426950408889634 + round, k = shifted - round;
  const Wide r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  Wide s = Wide{} + 1.0 / 6227020800.0;
  s = s * r + 1.0 / 479001600.0;
  s = s * r + 1.0 / 39916800.0;
  s = s * r + 1.0 / 3628800.0;
  s = s * r + 1.0 / 362880.0;
  s = s * r + 1.0 / 40320.0;
  s = s * r + 1.0 / 5040.0;
  s = s * r + 1.0 / 720.0;
  s = s * r + 1.0 / 120.0;
  s = s * r + 1.0 / 24.0;
  s = s * r + 1.0 / 6.0;
  s = s * r + 0.5;
  s = s * r + 1.0;
  s = s * r + 1.0;
  const Ints64 bits = reinterpret_cast<Ints64&>(s) + (reinterpret_cast<const Ints64&>(shifted) << 52);
  return reinterpret_cast<const Wide&>(bits);
}
inline Full exp_of(Full x) {
  x = larger(x, Full{} - 87.0f);
  const float round = 12582912.0f;  // 1.5 · 2²³
  const Full shifted = x * 1.44269504f + round, k = shifted - round;
  const Full r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  Full s = Full{} + 1.0f / 5040.0f;
  s = s * r + 1.0f / 720.0f;
  s = s * r + 1.0f / 120.0f;
  s = s * r + 1.0f / 24.0f;
  s = s * r + 1.0f / 6.0f;
  s = s * r + 0.5f;
  s = s * r + 1.0f;
  s = s * r + 1.0f;
  const Ints32 bits = reinterpret_cast<Ints32&>(s) + (reinterpret_cast<const Ints32&>(shifted) << 23);
  return reinterpret_cast<const Full&>(bits);
}

/// out = f(in) element by element; the last few through a padded register, so that every element has the same rounding.
template <class T, class F>
inline void each(T* out, const T* in, const T* other, Int n, F f) {
  using V = decltype(full(in));
  constexpr Int step = sizeof(V) / sizeof(T);
  Int k = 0;
  for (; k + step <= n; k += step) store(out + k, f(full(in + k), full(other + k)));
  if (k == n) return;
  T a[step] = {}, b[step] = {};
  for (Int j = k; j < n; ++j) a[j - k] = in[j], b[j - k] = other[j];
  store(a, f(full(a), full(b)));
  for (Int j = k; j < n; ++j) out[j] = a[j - k];
}

/// exp(−γ max(0, ‖x‖² + ‖xⱼ‖² − 2xᵀxⱼ)) from the products.
template <class T>
inline void rbf(T* out, const T* products, const T* norms, T norm, T gamma, Int n) {
  each(out, products, norms, n, [norm, gamma](auto product, auto other) {
    using V = decltype(product);
    return exp_of(-gamma * larger((other + norm) - (product + product), V{}));
  });
}
template <class T>
inline void exponential(T* out, const T* in, Int n) {
  each(out, in, in, n, [](auto x, auto) { return exp_of(x); });
}

/// A panel is some columns of data (here: rows of a set) side by side, 128 bytes wide, one line a feature. Over R left
/// rows and M panels: out[r·ld + …] = Σ over features of f(left, panel), every sum in the order of the features, so a
/// value has the same bits however many rows and panels were made with it.
template <class T, int R, int M, class F>
inline void block_of(T* out, Int ld, const T* left, const T* panels, Int cols, F f) {
  using V = decltype(full(left));
  constexpr Int step = sizeof(V) / sizeof(T), wide = panel_bytes / sizeof(T);
  constexpr int N = panel_bytes / sizeof(V);
  V sums[R][M * N] = {};
  for (Int k = 0; k < cols; ++k)
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) {
        const V right = full(panels + (m * cols + k) * wide + c * step);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) sums[r][m * N + c] = f(sums[r][m * N + c], left[r * cols + k], right);
      }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < M * N; ++c) store(out + r * ld + c * step, sums[r][c]);
}
template <class T, class F>
inline void over_panels(T* out, Int ld, const T* left, Int rows, const T* panels, Int count, Int cols, F f) {
  constexpr int R = WIDTH == 8 ? 8 : WIDTH == 4 ? 2 : 1;  // what the registers hold
  constexpr Int wide = panel_bytes / sizeof(T);
  constexpr int half = R == 8 ? 4 : R;
  Int r = 0;
  for (; r + R <= rows; r += R)
    for (Int m = 0; m < count; ++m)
      block_of<T, R, 1>(out + r * ld + m * wide, ld, left + r * cols, panels + m * cols * wide, cols, f);
  for (; r + half <= rows; r += half)
    for (Int m = 0; m < count; ++m)
      block_of<T, half, 1>(out + r * ld + m * wide, ld, left + r * cols, panels + m * cols * wide, cols, f);
  constexpr int M = WIDTH == 8 ? 4 : 1;
  for (; r < rows; ++r) {
    Int m = 0;
    for (; m + M <= count; m += M)
      block_of<T, 1, M>(out + r * ld + m * wide, ld, left + r * cols, panels + m * cols * wide, cols, f);
    for (; m < count; ++m)
      block_of<T, 1, 1>(out + r * ld + m * wide, ld, left + r * cols, panels + m * cols * wide, cols, f);
  }
}
template <class T>
inline void products(T* out, Int ld, const T* left, Int rows, const T* panels, Int count, Int cols) {
  over_panels(out, ld, left, rows, panels, count, cols, [](auto sum, auto x, auto y) { return sum + x * y; });
}
template <class T>
inline void manhattan(T* out, Int ld, const T* left, Int rows, const T* panels, Int count, Int cols) {
  over_panels(out, ld, left, rows, panels, count, cols, [](auto sum, auto x, auto y) {
    const auto difference = x - y;
    return sum + larger(difference, -difference);
  });
}
/// Σ (x − y)² / (x + y), a term of 0/0 counting 0.
template <class T>
inline void chi(T* out, Int ld, const T* left, Int rows, const T* panels, Int count, Int cols) {
  over_panels(out, ld, left, rows, panels, count, cols, [](auto sum, auto x, auto y) {
    using V = decltype(y);
    const V both = x + y, difference = x - y;
    return both > V{} ? sum + difference * difference / (both > V{} ? both : V{} + T(1)) : sum;
  });
}

/// f += Σ aᵣ rowᵣ over [first, first + n): float64 sums of kernel rows.
template <class T>
inline void combine(double* f, const T* const* rows, const double* a, Int count, Int first, Int n) {
  for (Int begin = 0; begin < n; begin += 2048) {  // the piece of f stays in the first cache
    const Int size = n - begin < 2048 ? n - begin : 2048;
    double* out = f + begin;
    Int r = 0;
    for (; r + 4 <= count; r += 4) {
      const T *p0 = rows[r] + first + begin, *p1 = rows[r + 1] + first + begin, *p2 = rows[r + 2] + first + begin,
              *p3 = rows[r + 3] + first + begin;
      const double a0 = a[r], a1 = a[r + 1], a2 = a[r + 2], a3 = a[r + 3];
      Int k = 0;
      for (; k + WIDTH <= size; k += WIDTH)
        store(out + k,
              load(out + k) + ((a0 * load(p0 + k) + a1 * load(p1 + k)) + (a2 * load(p2 + k) + a3 * load(p3 + k))));
      for (; k < size; ++k)
        out[k] += (a0 * double(p0[k]) + a1 * double(p1[k])) + (a2 * double(p2[k]) + a3 * double(p3[k]));
    }
    for (; r < count; ++r) add(a[r], rows[r] + first + begin, out, size);
  }
}

/// out = Σ v[k] · table[j[k]·ld …]: one sparse row against `width` rows that are laid out column by column.
template <class T>
inline void spread(T* out, const T* v, const std::int32_t* j, Int entries, const T* table, Int width, Int ld) {
  using V = decltype(full(out));
  constexpr Int step = sizeof(V) / sizeof(T);
  Int c = 0;
  for (; c + 2 * step <= width; c += 2 * step) {
    V a = {}, b = {};
    for (Int k = 0; k < entries; ++k) {
      const T* row = table + Int(j[k]) * ld + c;
      a += v[k] * full(row);
      b += v[k] * full(row + step);
    }
    store(out + c, a);
    store(out + c + step, b);
  }
  for (; c < width; ++c) {
    T s = 0;
    for (Int k = 0; k < entries; ++k) s += v[k] * table[Int(j[k]) * ld + c];
    out[c] = s;
  }
}

/// The smallest and the largest with their places; the first of equals, whatever the width.
struct Least {
  Wide value, place;
  void look(Wide x, Wide at) {
    const auto better = x < value;
    value = better ? x : value;
    place = better ? at : place;
  }
  Found found(const double* rest, Int from, Int n) const {
    Found best{value[0], Int(place[0])};
    for (int k = 1; k < WIDTH; ++k)
      if (value[k] < best.value || (value[k] == best.value && Int(place[k]) < best.place))
        best = {value[k], Int(place[k])};
    for (Int k = from; k < n; ++k)
      if (rest[k - from] < best.value) best = {rest[k - from], k};
    return best;
  }
};
inline Wide places() {
  Wide p;
  for (int k = 0; k < WIDTH; ++k) p[k] = k;
  return p;
}

/// g += t (kᵢ − kⱼ); then the least of g + up and the greatest of g + down.
template <class T>
inline Extremes step(double* g, const double* up, const double* down, const T* ki, const T* kj, double t, Int n) {
  const Wide none = Wide{} + __builtin_inf();
  Least low{none, {}}, high{none, {}};
  Wide at = places();
  Int k = 0;
  for (; k + WIDTH <= n; k += WIDTH, at += double(WIDTH)) {
    const Wide moved = load(g + k) + t * (load(ki + k) - load(kj + k));
    store(g + k, moved);
    low.look(moved + load(up + k), at);
    high.look(-(moved + load(down + k)), at);
  }
  double rest_low[WIDTH], rest_high[WIDTH];
  for (Int r = k; r < n; ++r) {
    g[r] += t * (double(ki[r]) - double(kj[r]));
    rest_low[r - k] = g[r] + up[r];
    rest_high[r - k] = -(g[r] + down[r]);
  }
  const Found l = low.found(rest_low, k, n), h = high.found(rest_high, k, n);
  return {{l.value, l.place}, {-h.value, h.place}};
}

/// The j that gains most with i: largest (g + down − low)² / max(kᵢᵢ + kⱼⱼ − 2kᵢⱼ, τ) over those above `low`.
template <class T>
inline Found gain(const double* g, const double* down, const T* ki, const double* diagonal, double kii, double low,
                  double floor, Int n) {
  Least best{Wide{} + 0.0, Wide{} - 1.0};
  Wide at = places();
  Int k = 0;
  const auto value = [&](auto difference, auto curvature, auto least, auto zero) {
    curvature = curvature > least ? curvature : least;
    return difference > zero ? -(difference * difference) / curvature : zero;
  };
  for (; k + WIDTH <= n; k += WIDTH, at += double(WIDTH)) {
    const Wide ki_k = load(ki + k);
    best.look(
        value(load(g + k) + load(down + k) - low, (kii + load(diagonal + k)) - (ki_k + ki_k), Wide{} + floor, Wide{}),
        at);
  }
  double rest[WIDTH];
  for (Int r = k; r < n; ++r)
    rest[r - k] = value(g[r] + down[r] - low, kii + diagonal[r] - 2 * double(ki[r]), floor, 0.0);
  const Found f = best.found(rest, k, n);
  return {-f.value, f.place};
}

constexpr Mercer mercer_table = {
    {rbf<float>, exponential<float>, products<float>, manhattan<float>, chi<float>, combine<float>, spread<float>,
     step<float>, gain<float>},
    {rbf<double>, exponential<double>, products<double>, manhattan<double>, chi<double>, combine<double>,
     spread<double>, step<double>, gain<double>},
};
