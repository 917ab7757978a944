// One source, built once per instruction level with LEVEL (a name) and WIDTH (doubles in a register) defined.
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

extern const Table DUALGAP_TABLE(LEVEL);
const Table DUALGAP_TABLE(LEVEL) = {DUALGAP_NAME(LEVEL), dot_f64, dot_f32, add_f64, add_f32, logistic, entropy,
                                    mercer_table};

}  // namespace dualgap::simd
