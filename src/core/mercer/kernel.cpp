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

/// tanh by e^(−2|x|), which the wide instructions know.
template <class T>
void hyperbolic_tangent(T* out, const T* in, T scale, T shift, Index n) {
  for (Index j = 0; j < n; ++j) out[j] = -2 * std::abs(scale * in[j] + shift);
  simd::active().mercer.of<T>().exponential(out, out, n);
  for (Index j = 0; j < n; ++j) out[j] = std::copysign((1 - out[j]) / (1 + out[j]), scale * in[j] + shift);
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
      if (degree == 3)
        for (Index j = 0; j < n; ++j) out[j] = (g * products[j] + r) * ((g * products[j] + r) * (g * products[j] + r));
      else
        for (Index j = 0; j < n; ++j) out[j] = power(g * products[j] + r, degree);
      break;
    case Shape::sigmoid:
      hyperbolic_tangent(out, products, g, r, n);
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
void Kernel::over_panels(T* out, Index ld, const T* left, Index rows, const T* panels, Index count, Index cols) const {
  const auto& simd = simd::active().mercer.of<T>();
  const auto over = shape == Shape::chi2 ? simd.chi : shape == Shape::laplacian ? simd.manhattan : simd.products;
  over(out, ld, left, rows, panels, count, cols);
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
template void Kernel::over_panels(float*, Index, const float*, Index, const float*, Index, Index) const;
template void Kernel::over_panels(double*, Index, const double*, Index, const double*, Index, Index) const;

}  // namespace dualgap
