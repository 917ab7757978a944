#include "solvers/newton_factor.hpp"

#include <algorithm>
#include <cmath>

#include "base/blocks.hpp"
#include "passes/passes.hpp"
#include "simd/dot.hpp"

namespace dualgap {

namespace {

auto find(const std::vector<Factor::Change>& changes, std::uint32_t row) {
  return std::find_if(changes.begin(), changes.end(), [&](const Factor::Change& c) { return c.row == row; });
}

}  // namespace

bool Factor::make(Index size, ConstVector a, double slope, ConstVector r) {
  size_ = size;
  small_.clear();
  known_.clear();
  scale_.resize(size);
  factor_.resize(static_cast<std::size_t>(size * size));
  const auto diagonal = [&](Index j) { return slope * a[j + j * size] + r[j]; };
  for (Index j = 0; j < size; ++j) scale_[j] = diagonal(j) > 0 ? 1 / std::sqrt(diagonal(j)) : 1.0;
  const Blocks strips(size, 64);
  for (double ridge = 1e-14; ridge < 1; ridge *= 100) {
    team_.for_each(strips.count, [&](Index strip) {
      for (Index j = strips.begin(strip); j < strips.end(strip); ++j) {
        for (Index i = 0; i < j; ++i) factor_[i + j * size] = slope * a[i + j * size] * scale_[i] * scale_[j];
        factor_[j + j * size] = diagonal(j) > 0 ? 1.0 + ridge : 1.0;
      }
    });
    if (cholesky(size, factor_.data(), team_, blas_)) return true;
    if (team_.interrupted()) return false;
  }
  return false;
}

/// Drops the columns that are no longer asked for; the others stand first, in their order. How many they are.
Index Factor::keep(const std::vector<Change>& changes) {
  Index kept = 0;
  for (std::size_t k = 0; k < known_.size(); ++k) {
    const auto asked = find(changes, known_[k].row);
    if (asked == changes.end()) continue;
    for (auto* matrix : {&columns_, &solved_})
      std::copy_n(matrix->data() + static_cast<Index>(k) * size_, size_, matrix->data() + kept * size_);
    known_[kept++] = *asked;
  }
  known_.resize(kept);
  return kept;
}

bool Factor::correct(const std::vector<Change>& changes, const Read& read) {
  const Index kept = keep(changes), k = static_cast<Index>(changes.size());
  small_.clear();
  if (k == 0) return true;
  for (auto* matrix : {&columns_, &solved_}) {
    matrix->resize(static_cast<std::size_t>(kept * size_));
    matrix->resize(static_cast<std::size_t>(k * size_));
  }
  for (const Change& change : changes) {
    if (find(known_, change.row) != known_.end()) continue;
    read(change.row, columns_.data() + std::ssize(known_) * size_);
    known_.push_back(change);
  }
  std::copy(columns_.begin() + kept * size_, columns_.end(), solved_.begin() + kept * size_);
  const Blocks strips(k - kept, 4);
  team_.for_each(k > kept ? strips.count : 0, [&](Index strip) {
    back_solve(strips.end(strip) - strips.begin(strip), solved_.data() + (kept + strips.begin(strip)) * size_);
  });
  small_.assign(static_cast<std::size_t>(k * k), 0.0);
  for (Index j = 0; j < k; ++j) small_[j + j * k] = known_[j].sign;
  const int m = static_cast<int>(k), d = static_cast<int>(size_);
  const double one = 1;
  const Blocks parts(k, 24);
  team_.for_each(parts.count, [&](Index part) {
    const Index first = parts.begin(part);
    const int count = static_cast<int>(parts.end(part) - first);
    blas_.dgemm("T", "N", &m, &count, &d, &one, columns_.data(), &d, solved_.data() + first * size_, &d, &one,
                small_.data() + first * k, &m);
  });
  pivots_.resize(k);
  int info = 0;
  blas_.dgetrf(&m, &m, small_.data(), &m, pivots_.data(), &info);
  if (info != 0) small_.clear();
  return info == 0;
}

void Factor::back_solve(Index count, double* columns) const {
  const auto scale = [&] {
    for (Index k = 0; k < count; ++k)
      for (Index j = 0; j < size_; ++j) columns[j + k * size_] *= scale_[j];
  };
  const int n = static_cast<int>(size_), m = static_cast<int>(count), inc = 1;
  int info = 0;
  scale();
  if (count == 1) {  // reads the factor where it lies; LAPACK's way packs it first
    blas_.dtrsv("U", "T", "N", &n, factor_.data(), &n, columns, &inc);
    blas_.dtrsv("U", "N", "N", &n, factor_.data(), &n, columns, &inc);
  } else {
    blas_.dpotrs("U", &n, &m, factor_.data(), &n, columns, &n, &info);
  }
  scale();
}

void Factor::solve(Vector x) const {
  const Index k = static_cast<Index>(corrected() ? pivots_.size() : 0);
  std::vector<double> shares(k);  // (S + UᵀY)⁻¹ Yᵀx
  for (Index i = 0; i < k; ++i) shares[i] = dot(ConstVector(solved_).subspan(i * size_, size_), x);
  back_solve(1, x.data());
  if (k == 0) return;
  const int m = static_cast<int>(k), one = 1;
  int info = 0;
  blas_.dgetrs("N", &m, &one, small_.data(), &m, pivots_.data(), shares.data(), &m, &info);
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < size_; ++j) x[j] -= shares[i] * solved_[j + i * size_];
}

}  // namespace dualgap
