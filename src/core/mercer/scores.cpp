#include "mercer/scores.hpp"

#include <algorithm>
#include <mutex>

namespace dualgap {

namespace {

constexpr Index rows_at_once = 64, supports_at_once = 512;
constexpr Index packed_bytes = Index{1} << 25;
constexpr Index worth_threads = 8000000;  // products and functions: some tenths of a millisecond

/// Runs the blocks, by threads where they are worth it. False: given up.
template <class Work>
bool run_blocks(Team& team, Index blocks, Index work, Patience patience, const Work& one) {
  if (work < worth_threads || patience == Patience::to_the_end) {
    if (work < worth_threads)
      for (Index b = 0; b < blocks; ++b) one(b);
    else
      team.for_each(blocks, one);
    return true;
  }
  return team.try_each(blocks, one);
}

bool precomputed_scores(const AnyRows& rows, std::span<const std::uint32_t> ids,
                        std::span<const std::uint32_t> support_ids, const Outputs& outputs, double* out, Team& team,
                        Patience patience) {
  std::vector<double> weight(count_cols(rows));
  const Index n = static_cast<Index>(ids.size());
  for (Index m = 0; m < outputs.count(); ++m) {
    const auto [first, last] = outputs.ranges[m / outputs.width];
    const double* coef = outputs.coef + (m % outputs.width) * static_cast<Index>(support_ids.size());
    for (Index j = first; j < last; ++j) weight[support_ids[j]] = coef[j];
    const auto some = [&](Index b) {
      std::visit(
          [&](const auto& r) {
            for (Index i = b * rows_at_once; i < std::min(n, (b + 1) * rows_at_once); ++i)
              out[m * n + i] = r.dot(ids[i], weight.data());
          },
          rows);
    };
    if (!run_blocks(team, (n + rows_at_once - 1) / rows_at_once, n * count_cols(rows), patience, some)) return false;
    for (Index j = first; j < last; ++j) weight[support_ids[j]] = 0;
  }
  return true;
}

/// What one thread works with.
struct Room {
  Left<double> left;
  Buffer<double> values;
};
/// As many as there are threads; a block takes a free one.
class Rooms {
 public:
  explicit Rooms(Index count) : rooms_(count) {
    for (Room& room : rooms_) free_.push_back(&room);
  }
  template <class Work>
  void with_one(const Work& work) {
    Room* room;
    {
      const std::lock_guard lock(mutex_);
      room = free_.back();
      free_.pop_back();
    }
    work(*room);
    const std::lock_guard lock(mutex_);
    free_.push_back(room);
  }

 private:
  std::vector<Room> rooms_;
  std::vector<Room*> free_;
  std::mutex mutex_;
};

}  // namespace

bool kernel_scores(const Kernel& kernel, const AnyRows& rows, std::span<const std::uint32_t> ids,
                   const AnyRows& support, std::span<const std::uint32_t> support_ids, const Outputs& outputs,
                   double* out, Team& team, Patience patience) {
  const Index n = static_cast<Index>(ids.size()), s = static_cast<Index>(support_ids.size());
  std::fill(out, out + n * outputs.count(), 0.0);
  if (s == 0 || n == 0) return true;
  if (kernel.shape == Kernel::Shape::precomputed)
    return precomputed_scores(rows, ids, support_ids, outputs, out, team, patience);
  const Layout layout = layout_for(kernel, support);
  const Index cols = count_cols(support), at_once = std::min(rows_at_once, Left<double>::at_once(layout, cols));
  const Index row_work = layout == Layout::dense ? cols + 32 : 32 + count_entries(support) / count_rows(support);
  const Index wide = Right<double>::width, packed = std::max<Index>(1, packed_bytes / (row_work * 8 * wide)) * wide;
  const std::vector<double> shift = common_shift(kernel, support, layout);
  const auto dot = simd::active().dot_f64;
  Rooms rooms(team.size());
  Right<double> right;
  for (Index piece = 0; piece < s; piece += packed) {
    const Index held = std::min(packed, s - piece);
    if (!right.pack(support, support_ids.data() + piece, held, layout, shift, team, patience)) return false;
    const auto some = [&](Room& room, Index b) {
      const Index row = b * at_once, size = std::min(at_once, n - row);
      room.left.pack(rows, ids.data() + row, size, layout, shift);
      room.values.reserve(at_once * supports_at_once);
      for (Index begin = 0; begin < held; begin += supports_at_once) {
        const Index count = std::min(supports_at_once, held - begin), first = piece + begin;
        if (patience == Patience::may_leave && team.interrupted()) return;
        kernel_block(kernel, room.left, right, begin, count,
                     [&](Index k) { return room.values.data() + k * supports_at_once; });
        for (Index m = 0; m < outputs.count(); ++m) {
          const auto& range = outputs.ranges[m / outputs.width];
          const Index low = std::max(range.first, first), high = std::min(range.second, first + count);
          const double* coef = outputs.coef + (m % outputs.width) * s + low;
          for (Index k = 0; k < size && low < high; ++k)
            out[m * n + row + k] += dot(room.values.data() + k * supports_at_once + (low - first), coef, high - low);
        }
      }
    };
    if (!run_blocks(team, (n + at_once - 1) / at_once, n * held * row_work, patience,
                    [&](Index b) { rooms.with_one([&](Room& room) { some(room, b); }); }))
      return false;
  }
  return true;
}

}  // namespace dualgap
