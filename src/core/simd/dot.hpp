// Products of vectors as long as a row or as a table.
#pragma once

#include "base/types.hpp"
#include "simd/table.hpp"

namespace dualgap {

inline double dot(ConstVector a, ConstVector b) {
  return simd::active().dot_f64(a.data(), b.data(), static_cast<Index>(a.size()));
}

}  // namespace dualgap
