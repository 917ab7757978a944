// For every level that this machine has: its name, and how far its logistic loss and entropy are from those in long
// double, in units of the last place of the greater of the value and 1e-300. Shares below all normal numbers count as
// 0.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "simd/table.hpp"

namespace {

double worst(const std::vector<double>& values, const std::vector<long double>& truth) {
  long double most = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const long double off = std::fabs(values[k] - truth[k]) / (0x1p-52L * std::max(1e-300L, std::fabs(truth[k])));
    most = off <= most ? most : off;  // what is no number is worst of all
  }
  return static_cast<double>(most);
}

}  // namespace

int main() {
  std::vector<double> shares = {0.0, 0.5, 5e-324, 1e-310, 2.3e-308, std::sqrt(0.125)}, margins = {0.0, -800.0, 650.0};
  for (int k = 0; k < 100001; ++k) {
    const double part = (k + 0.5) / 100001;
    for (const double share : {0.5 * part, 0.5 * std::pow(10, -300 * part), 0.5 - 0.5 * std::pow(10, -18 * part)})
      shares.push_back(share);
    for (const double margin : {40 * part - 20, 1400 * part - 700, std::pow(10, -300 * part)})
      margins.push_back(margin);
  }
  std::vector<long double> entropies, losses, parts;
  for (const long double s : shares)
    entropies.push_back(s >= 0x1p-1022L ? -s * std::log(s) - (1 - s) * std::log1p(-s) : 0.0L);
  for (const long double m : margins) {
    losses.push_back(std::max(-m, 0.0L) + std::log1p(std::exp(-std::fabs(m))));
    parts.push_back(1 / (1 + std::exp(m)));
  }
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const dualgap::simd::Table* level = dualgap::simd::find(name);
    if (!level) continue;
    std::vector<double> entropy(shares.size()), loss(margins.size()), part(margins.size());
    level->entropy(entropy.data(), shares.data(), static_cast<std::int64_t>(shares.size()));
    level->logistic(margins.data(), loss.data(), part.data(), static_cast<std::int64_t>(margins.size()));
    std::printf("%s %g %g %g\n", name, worst(entropy, entropies), worst(loss, losses), worst(part, parts));
  }
}
