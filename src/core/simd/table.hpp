// The dense operations that gain from wide instructions: one build of `ops.inl` per level, chosen once by the
// processor.
//
// DUALGAP_SIMD=baseline|avx2|avx512 forces a level the processor has (the tests run all of them).
#pragma once

#include <cstdint>

namespace dualgap::simd {

struct Table {
  const char* name;
  double (*dot_f64)(const double* x, const double* w, std::int64_t n);
  double (*dot_f32)(const float* x, const double* w, std::int64_t n);
  void (*add_f64)(double a, const double* x, double* w, std::int64_t n);
  void (*add_f32)(double a, const float* x, double* w, std::int64_t n);
  // Σ v[k] w[j[k]], Σ w[j[k]] over the entries of a sparse row
  double (*gather_f64)(const double* v, const std::int32_t* j, const double* w, std::int64_t n);
  double (*gather_f32)(const float* v, const std::int32_t* j, const double* w, std::int64_t n);
  double (*gather_ones)(const std::int32_t* j, const double* w, std::int64_t n);
};

/// The best level of this processor, or the one that DUALGAP_SIMD names.
const Table& active();

/// The level by name, or nullptr where this build or this processor does not have it.
const Table* find(const char* name);

}  // namespace dualgap::simd
