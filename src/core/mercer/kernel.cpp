#include "mercer/kernel.hpp"

#include <cmath>

#include "simd/table.hpp"

namespace dualgap {

namespace {
template <class T>
T power(T x, int degree) {
  T result = 1;
  for (; degree > 0; degree >>= 1, x *= x)
    if (degree & 1) result *= x;
  return result;
}
}  // namespace

template <class T>
void Kernel::finish(T* out, const T* products, const T* norms, T norm, Index n) const {
  const auto& simd = simd::active().mercer.of<T>();
  const T g = static_cast<T>(gamma), r = static_cast<T>(coef0);
  switch (shape) {
    case Shape::rbf:
      simd.rbf(out, products, norms, norm, g, n);
      break;
    case Shape::poly:
      for (Index j = 0; j < n; ++j) out[j] = power(g * products[j] + r, degree);
      break;
    case Shape::sigmoid:
      for (Index j = 0; j < n; ++j) out[j] = std::tanh(g * products[j] + r);
      break;
    case Shape::laplacian:
    case Shape::chi2:
      for (Index j = 0; j < n; ++j) out[j] = -g * products[j];
      simd.exponential(out, out, n);
      break;
    case Shape::linear:
    case Shape::precomputed:
      for (Index j = 0; j < n; ++j) out[j] = products[j];
  }
}

template <class T>
T Kernel::distance(const T* x, const T* y, Index cols) const {
  const auto& simd = simd::active().mercer.of<T>();
  return shape == Shape::chi2 ? simd.chi(x, y, cols) : simd.manhattan(x, y, cols);
}

double Kernel::of_itself(double squared_norm) const {
  switch (shape) {
    case Shape::linear:
      return squared_norm;
    case Shape::poly:
      return power(gamma * squared_norm + coef0, degree);
    case Shape::sigmoid:
      return std::tanh(gamma * squared_norm + coef0);
    default:
      return 1;
  }
}

template void Kernel::finish(float*, const float*, const float*, float, Index) const;
template void Kernel::finish(double*, const double*, const double*, double, Index) const;
template float Kernel::distance(const float*, const float*, Index) const;
template double Kernel::distance(const double*, const double*, Index) const;

}  // namespace dualgap
