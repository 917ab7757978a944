// One source, built once per instruction level with LEVEL (a name) and WIDTH (doubles in a register) defined, and
// NOGATHER (the name of the level without gathers) where there are such instructions.
// No standard headers with templates or inline functions here: their weak symbols would be compiled for a wider machine
// and could be picked by the linker for everyone (tests/test_build.py looks for that with nm).
#include "simd/table.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace dualgap::simd {
namespace {

using Int = std::int64_t;
typedef double Wide __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef float Half __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

inline Wide load(const double* x) { return *reinterpret_cast<const Wide*>(x); }
inline Wide load(const float* x) { return __builtin_convertvector(*reinterpret_cast<const Half*>(x), Wide); }

/// Halves onto halves: one after the other the additions of a short row would take longer than its products.
inline double total(Wide a) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_pd((__m512d)a);
#elif defined(__AVX2__)
  const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128((__m256d)a), _mm256_extractf128_pd((__m256d)a, 1));
  return pair[0] + pair[1];
#else
  return a[0] + a[1];
#endif
}

template <class T>
inline double dot(const T* x, const double* w, Int n) {
  Wide a = {}, b = {}, c = {}, d = {};
  Int k = 0;
  for (; k + 4 * WIDTH <= n; k += 4 * WIDTH) {
    a += load(x + k) * load(w + k);
    b += load(x + k + WIDTH) * load(w + k + WIDTH);
    c += load(x + k + 2 * WIDTH) * load(w + k + 2 * WIDTH);
    d += load(x + k + 3 * WIDTH) * load(w + k + 3 * WIDTH);
  }
  for (; k + WIDTH <= n; k += WIDTH) a += load(x + k) * load(w + k);
  double s = total((a + b) + (c + d));
  for (; k < n; ++k) s += double(x[k]) * w[k];
  return s;
}

template <class T>
inline void add(double scale, const T* x, double* w, Int n) {
  Int k = 0;
  for (; k + WIDTH <= n; k += WIDTH) *reinterpret_cast<Wide*>(w + k) = load(w + k) + scale * load(x + k);
  for (; k < n; ++k) w[k] += scale * double(x[k]);
}

typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

/// The values of a sparse row, as they are stored or all one: one, two, or as many as fit in a register.
template <class T>
struct Stored {
  const T* v;
  double one(Int k) const { return v[k]; }
  Pair pair(Int k) const { return Pair{double(v[k]), double(v[k + 1])}; }
  Wide wide(Int k) const { return load(v + k); }
};
struct Ones {
  double one(Int) const { return 1.0; }
  Pair pair(Int) const { return Pair{1.0, 1.0}; }
  Wide wide(Int) const { return Wide{} + 1.0; }
};

inline Pair two(const std::int32_t* j, const double* w) { return Pair{w[j[0]], w[j[1]]}; }

constexpr double tail[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

/// Σ v[k] w[j[k]] over n ≥ 8 entries by ordinary loads; the end as in CsrRows::plain_dot.
template <class Values>
inline double sparse_dot(Values v, const std::int32_t* j, const double* w, Int n) {
  Pair a = {}, b = {}, c = {}, d = {};
  Int k = 0;
  for (; k + 8 <= n; k += 8) {
    a += v.pair(k) * two(j + k, w);
    b += v.pair(k + 2) * two(j + k + 2, w);
    c += v.pair(k + 4) * two(j + k + 4, w);
    d += v.pair(k + 6) * two(j + k + 6, w);
  }
  const double* f = tail + (n - k);
  k = n - 8;
  a += Pair{f[0], f[1]} * v.pair(k) * two(j + k, w);
  b += Pair{f[2], f[3]} * v.pair(k + 2) * two(j + k + 2, w);
  c += Pair{f[4], f[5]} * v.pair(k + 4) * two(j + k + 4, w);
  d += Pair{f[6], f[7]} * v.pair(k + 6) * two(j + k + 6, w);
  const Pair sum = (a + b) + (c + d);
  return sum[0] + sum[1];
}

/// w[j[k]] += a v[k]; no column twice, so four at a time need not wait for each other.
template <class Values>
inline void sparse_add(double a, Values v, const std::int32_t* j, double* w, Int n) {
  Int k = 0;
  for (; k + 4 <= n; k += 4) {
    double *first = w + j[k], *second = w + j[k + 1], *third = w + j[k + 2], *fourth = w + j[k + 3];
    const double p = *first + a * v.one(k), q = *second + a * v.one(k + 1), r = *third + a * v.one(k + 2),
                 s = *fourth + a * v.one(k + 3);
    *first = p;
    *second = q;
    *third = r;
    *fourth = s;
  }
  for (; k < n; ++k) w[j[k]] += a * v.one(k);
}

double dot_pairs_f64(const double* v, const std::int32_t* j, const double* w, Int n) {
  return sparse_dot(Stored<double>{v}, j, w, n);
}
double dot_pairs_f32(const float* v, const std::int32_t* j, const double* w, Int n) {
  return sparse_dot(Stored<float>{v}, j, w, n);
}
double dot_pairs_ones(const std::int32_t* j, const double* w, Int n) { return sparse_dot(Ones{}, j, w, n); }
void add_fours_f64(double a, const double* v, const std::int32_t* j, double* w, Int n) {
  sparse_add(a, Stored<double>{v}, j, w, n);
}
void add_fours_f32(double a, const float* v, const std::int32_t* j, double* w, Int n) {
  sparse_add(a, Stored<float>{v}, j, w, n);
}
void add_fours_ones(double a, const std::int32_t* j, double* w, Int n) { sparse_add(a, Ones{}, j, w, n); }

constexpr Sparse by_loads = {dot_pairs_f64, dot_pairs_f32, dot_pairs_ones,
                             add_fours_f64, add_fours_f32, add_fours_ones};

#if defined(__AVX2__)
inline Wide gathered(const std::int32_t* j, const double* w) {
#if defined(__AVX512F__)
  return (Wide)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i*)j), w, 8);
#else
  return (Wide)_mm256_i32gather_pd(w, _mm_loadu_si128((const __m128i*)j), 8);
#endif
}

#if defined(__AVX512F__)
/// The first few, zero beyond: the end of a row in one instruction.
inline __mmask8 first_few(Int n) { return (__mmask8)((1u << n) - 1); }
inline Wide gathered_first(const std::int32_t* j, const double* w, Int n) {
  const __mmask8 m = first_few(n);
  return (Wide)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), m, _mm256_maskz_loadu_epi32(m, j), w, 8);
}
inline Wide first(Stored<double> x, Int k, Int n) { return (Wide)_mm512_maskz_loadu_pd(first_few(n), x.v + k); }
inline Wide first(Stored<float> x, Int k, Int n) {
  return (Wide)_mm512_cvtps_pd(_mm256_maskz_loadu_ps(first_few(n), x.v + k));
}
inline Wide first(Ones x, Int k, Int) { return x.wide(k); }
#endif

template <class Values>
inline double gather(Values v, const std::int32_t* j, const double* w, Int n) {
  Wide a = {}, b = {};
  Int k = 0;
  for (; k + 2 * WIDTH <= n; k += 2 * WIDTH) {
    a += v.wide(k) * gathered(j + k, w);
    b += v.wide(k + WIDTH) * gathered(j + k + WIDTH, w);
  }
  for (; k + WIDTH <= n; k += WIDTH) a += v.wide(k) * gathered(j + k, w);
#if defined(__AVX512F__)
  if (k < n) b += first(v, k, n - k) * gathered_first(j + k, w, n - k);
  return total(a + b);
#else
  double s = total(a + b);
  for (; k < n; ++k) s += v.one(k) * w[j[k]];
  return s;
#endif
}

double gather_f64(const double* v, const std::int32_t* j, const double* w, Int n) {
  return gather(Stored<double>{v}, j, w, n);
}
double gather_f32(const float* v, const std::int32_t* j, const double* w, Int n) {
  return gather(Stored<float>{v}, j, w, n);
}
double gather_ones(const std::int32_t* j, const double* w, Int n) { return gather(Ones{}, j, w, n); }

#if defined(__AVX512F__)
template <class Values>
inline void scatter(double a, Values v, const std::int32_t* j, double* w, Int n) {
  Int k = 0;
  for (; k + WIDTH <= n; k += WIDTH) {
    const Wide sum = gathered(j + k, w) + a * v.wide(k);
    _mm512_i32scatter_pd(w, _mm256_loadu_si256((const __m256i*)(j + k)), (__m512d)sum, 8);
  }
  if (k < n) {
    const __mmask8 m = first_few(n - k);
    const Wide sum = gathered_first(j + k, w, n - k) + a * first(v, k, n - k);
    _mm512_mask_i32scatter_pd(w, m, _mm256_maskz_loadu_epi32(m, j + k), (__m512d)sum, 8);
  }
}

void scatter_f64(double a, const double* v, const std::int32_t* j, double* w, Int n) {
  scatter(a, Stored<double>{v}, j, w, n);
}
void scatter_f32(double a, const float* v, const std::int32_t* j, double* w, Int n) {
  scatter(a, Stored<float>{v}, j, w, n);
}
void scatter_ones(double a, const std::int32_t* j, double* w, Int n) { scatter(a, Ones{}, j, w, n); }

constexpr Sparse by_gathers = {gather_f64, gather_f32, gather_ones, scatter_f64, scatter_f32, scatter_ones};
#else
constexpr Sparse by_gathers = {gather_f64, gather_f32, gather_ones, add_fours_f64, add_fours_f32, add_fours_ones};
#endif
#endif

double dot_f64(const double* x, const double* w, Int n) { return dot(x, w, n); }
double dot_f32(const float* x, const double* w, Int n) { return dot(x, w, n); }
void add_f64(double a, const double* x, double* w, Int n) { add(a, x, w, n); }
void add_f32(double a, const float* x, double* w, Int n) { add(a, x, w, n); }

#include "simd/mercer_ops.inl"
// after it: uses its exponential
#include "simd/logistic_ops.inl"

}  // namespace

#define DUALGAP_JOIN(a, b) a##b
#define DUALGAP_TABLE(level) DUALGAP_JOIN(table_, level)
#define DUALGAP_TEXT(level) #level
#define DUALGAP_NAME(level) DUALGAP_TEXT(level)

#if defined(__AVX2__)
extern const Table DUALGAP_TABLE(LEVEL), DUALGAP_TABLE(NOGATHER);
const Table DUALGAP_TABLE(LEVEL) = {DUALGAP_NAME(LEVEL), dot_f64,  dot_f32,     add_f64, add_f32,
                                    by_gathers,          logistic, mercer_table};
const Table DUALGAP_TABLE(NOGATHER) = {
    DUALGAP_NAME(LEVEL) "-nogather", dot_f64, dot_f32, add_f64, add_f32, by_loads, logistic, mercer_table};
#else
extern const Table DUALGAP_TABLE(LEVEL);
const Table DUALGAP_TABLE(LEVEL) = {DUALGAP_NAME(LEVEL), dot_f64, dot_f32, add_f64, add_f32, by_loads, logistic,
                                    mercer_table};
#endif

}  // namespace dualgap::simd
