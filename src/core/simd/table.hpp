// The operations on rows that gain from wide instructions: one build of `ops.inl` per level, chosen once by the
// processor.
// DUALGAP_SIMD=baseline|avx2|avx512 forces a level the processor has (the tests run all of them).
#pragma once

#include <cstdint>

namespace dualgap::simd {

/// A value and where it was found (−1: nowhere).
struct Found {
  double value;
  std::int64_t place;
};
struct Extremes {
  Found low, high;
};

/// Panels of rows for block products are this wide at every level.
inline constexpr std::int64_t panel_bytes = 128;

/// What kernel machines need, for kernel values of type T (mercer_ops.inl says what each does).
template <class T>
struct MercerOps {
  using Int = std::int64_t;
  void (*rbf)(T* out, const T* products, const T* norms, T norm, T gamma, Int n);
  void (*exponential)(T* out, const T* in, Int n);
  using OverPanels = void (*)(T* out, Int ld, const T* left, Int rows, const T* panels, Int count, Int cols);
  OverPanels products, manhattan, chi;
  void (*combine)(double* f, const T* const* rows, const double* a, Int count, Int first, Int n);
  void (*spread)(T* out, const T* v, const std::int32_t* j, Int entries, const T* table, Int width, Int ld);
  Extremes (*step)(double* g, const double* up, const double* down, const T* ki, const T* kj, double t, Int n);
  Found (*gain)(const double* g, const double* down, const T* ki, const double* diagonal, double kii, double low,
                double floor, Int n);
};
struct Mercer {
  MercerOps<float> single;
  MercerOps<double> full;
  template <class T>
  const MercerOps<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return full;
  }
};

struct Table {
  const char* name;
  double (*dot_f64)(const double* x, const double* w, std::int64_t n);
  double (*dot_f32)(const float* x, const double* w, std::int64_t n);
  void (*add_f64)(double a, const double* x, double* w, std::int64_t n);
  void (*add_f32)(double a, const float* x, double* w, std::int64_t n);
  // log(1 + e^−m) and 1 / (1 + e^m)
  void (*logistic)(const double* m, double* value, double* share, std::int64_t n);
  // −s log s − (1 − s) log(1 − s) for 0 ≤ s ≤ ½
  void (*entropy)(double* out, const double* s, std::int64_t n);
  Mercer mercer;
};

/// The best level of this processor, or the one that DUALGAP_SIMD names.
const Table& active();

/// The level by name, or nullptr where this build or this processor does not have it.
const Table* find(const char* name);

}  // namespace dualgap::simd
