#include "mercer/scores.hpp"

#include <algorithm>

namespace dualgap {

namespace {

constexpr Index rows_at_once = 192, supports_at_once = 768;
constexpr Index worth_threads = 20000000;  // products: about a millisecond

bool precomputed_scores(const AnyRows& rows, std::span<const std::uint32_t> ids,
                        std::span<const std::uint32_t> support_ids, const Outputs& outputs, double* out,
                        const std::function<bool(Index)>& leave) {
  std::vector<double> weight(count_cols(rows));
  const Index n = static_cast<Index>(ids.size());
  for (Index m = 0; m < outputs.count(); ++m) {
    const auto [first, last] = outputs.ranges[m / outputs.width];
    const double* coef = outputs.coef + (m % outputs.width) * support_ids.size();
    for (Index j = first; j < last; ++j) weight[support_ids[j]] = coef[j];
    const bool left = std::visit(
        [&](const auto& r) {
          for (Index i = 0; i < n; ++i) {
            out[m * n + i] = r.dot(ids[i], weight.data());
            if ((i & 63) == 0 && leave(64 * r.entries(ids[i]))) return true;
          }
          return false;
        },
        rows);
    if (left) return false;
    for (Index j = first; j < last; ++j) weight[support_ids[j]] = 0;
  }
  return true;
}

/// What one block of rows works with.
struct Room {
  BlockRoom<double> block;
  Pack<double> left;
  std::vector<double> values;
};

}  // namespace

bool kernel_scores(const Kernel& kernel, const Blas& blas, const AnyRows& rows, std::span<const std::uint32_t> ids,
                   const AnyRows& support, std::span<const std::uint32_t> support_ids, const Outputs& outputs,
                   double* out, Team& team, const std::function<bool(Index)>& leave) {
  const Index n = static_cast<Index>(ids.size()), s = static_cast<Index>(support_ids.size());
  std::fill(out, out + n * outputs.count(), 0.0);
  if (s == 0 || n == 0) return true;
  if (kernel.shape == Kernel::Shape::precomputed)
    return precomputed_scores(rows, ids, support_ids, outputs, out, leave);
  const Layout layout = layout_for(kernel, support);
  const std::vector<double> shift = common_shift(kernel, support, layout);
  const Index blocks = (n + rows_at_once - 1) / rows_at_once, wave = team.size() == 1 ? 1 : 2 * team.size();
  std::vector<Room> rooms(std::min(wave, blocks));
  Pack<double> right;
  for (Index begin = 0; begin < s; begin += supports_at_once) {
    const Index count = std::min(supports_at_once, s - begin);
    pack(support, support_ids.data() + begin, count, layout, shift, right);
    for (Index first = 0; first < blocks; first += wave) {
      const auto work_on = [&](Index b) {
        Room& room = rooms[b];
        const Index row = (first + b) * rows_at_once, size = std::min(rows_at_once, n - row);
        pack(rows, ids.data() + row, size, layout, shift, room.left);
        room.values.resize(size * count);
        kernel_block(kernel, blas, room.left, right, 0, count, room.block, [&](Index k, const double* values) {
          std::copy_n(values, count, room.values.data() + k * count);
        });
        for (std::size_t r = 0; r < outputs.ranges.size(); ++r) {
          const Index low = std::max(outputs.ranges[r].first, begin),
                      high = std::min(outputs.ranges[r].second, begin + count);
          if (low < high)
            gemm(blas, "T", "N", static_cast<int>(size), static_cast<int>(outputs.width), static_cast<int>(high - low),
                 room.values.data() + (low - begin), static_cast<int>(count), outputs.coef + low, static_cast<int>(s),
                 out + static_cast<Index>(r) * outputs.width * n + row, static_cast<int>(n), 1.0);
        }
      };
      const Index now = std::min(wave, blocks - first);
      if (now * rows_at_once * count * (right.cols + 16) > worth_threads)
        team.for_each(now, work_on);
      else
        for (Index b = 0; b < now; ++b) work_on(b);
      if (leave(wave * rows_at_once * count)) return false;
    }
  }
  return true;
}

}  // namespace dualgap
