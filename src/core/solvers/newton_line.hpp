// The step along Newton's move: a point before the minimum along the ray.
#pragma once

namespace dualgap {

/// A t where f, which rises, is between a tenth of its value at 0, `first` < 0, and zero; `one` is its value at 1.
/// Where none is found in a hundred looks, the largest t seen before the root. Regula falsi, Illinois' way; where it
/// takes long, halving beside it: a row that crosses its corner can make f steeper by ten orders of magnitude within a
/// hair's breadth, and a step that ends short of that would meet it again and again.
template <class F>
double before_minimum(F f, double first, double one) {
  double low = 0, high = 1, f_low = first, f_high = one;
  while (f_high < 0 && high < 1e12) {
    low = high;
    f_low = f_high;
    f_high = f(high *= 2);
  }
  for (int k = 0, side = 0; k < 100 && high - low > 1e-15 * high; ++k) {
    double t = low - f_low * (high - low) / (f_high - f_low);
    if (!(t > low && t < high) || (k < 16 ? k % 8 == 7 : k % 2 == 1)) t = 0.5 * (low + high);
    const double here = f(t);
    if (0.1 * first <= here && here <= 0) return t;
    if (here < 0) {
      low = t;
      f_low = here;
      if (side < 0) f_high *= 0.5;
      side = -1;
    } else {
      high = t;
      f_high = here;
      if (side > 0) f_low *= 0.5;
      side = 1;
    }
  }
  return low > 0 ? low : 0.5 * (low + high);
}

}  // namespace dualgap
