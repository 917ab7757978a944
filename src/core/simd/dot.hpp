// Products of whole vectors.
#pragma once

#include "base/types.hpp"
#include "simd/table.hpp"

namespace dualgap {

inline double dot(ConstVector a, ConstVector b) {
  return simd::active().dot_f64(a.data(), b.data(), static_cast<Index>(a.size()));
}
inline double squared(ConstVector a) { return dot(a, a); }

}  // namespace dualgap
