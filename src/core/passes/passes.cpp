#include "passes/passes.hpp"

#include <cmath>
#include <memory>
#include <numeric>

namespace dualgap {

namespace {

constexpr Index cached_entries = 8192;  // of rows that are read twice: they stay in a core's own cache between
constexpr Index long_sum = 100000;      // numbers of a sum of which each thread has one at a time
constexpr Index few_blocks = 8;         // too few for threads to share
constexpr Index pack_rows = 192;    // rows copied together before a product: 192 × 500 columns stay in the second cache
constexpr Index shared_rows = 512;  // the same where all threads share the copy: it stays in the last cache
constexpr Index worth_sharing = 4000000;  // products of a Gram over few rows: about a tenth of a millisecond
constexpr double crowded =
    0.4;  // the part of its columns that a sparse row has on average, to be packed like a dense one
constexpr Index narrowest = 64;  // columns of a thread's part of a matrix

template <class Rows>
constexpr bool is_sparse = false;
template <class Values>
constexpr bool is_sparse<CsrRows<Values>> = true;

/// Blocks of about 16,384 entries. Of long rows up to 512, so that what is done with a block's rows then has enough of
/// them for wide instructions, but of no more than four million entries or a sixteenth of the list: threads want some.
template <class Rows>
Blocks even_blocks(const Rows& rows, Index count) {
  const auto rows_with = [&](Index entries) { return entries * rows.rows() / std::max<Index>(rows.entries(), 1); };
  return Blocks(count, std::max({Index{64}, rows_with(16384), std::min({Index{512}, rows_with(1 << 22), count / 16})}));
}

/// Blocks of a list for sums of vectors over the columns.
template <class Rows>
Blocks list_blocks(const Rows& rows, RowList list) {
  const Index size = static_cast<Index>(list.size());
  return Blocks(size, rows.entries() / std::max<Index>(rows.rows(), 1) * size, rows.cols(), Blocks::solver_share);
}

/// v = Σ over blocks of what part(block, begin, end, sum) adds to its sum, in order; at most so many sums at a time.
template <class F>
bool ordered_sum(Team& team, const Blocks& blocks, Vector v, F part, Index most = Blocks::most) {
  std::fill(v.begin(), v.end(), 0.0);
  const Index p = static_cast<Index>(v.size());
  if (blocks.count == 1) return team.try_each(1, [&](Index) { part(0, 0, blocks.n, v.data()); });
  const Index each =
      p > long_sum ? 1 : std::max<Index>(4, 32768 / std::max<Index>(p, 1));  // no more than the caches hold
  const Index wave = team.size() == 1 ? 1 : std::min<Index>({blocks.count, each * team.size(), most});
  const auto parts = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(wave * p));
  for (Index first = 0; first < blocks.count; first += wave) {
    const Index count = std::min(wave, blocks.count - first);
    const bool done = team.try_each(count, [&](Index k) {
      double* mine = parts.get() + k * p;
      std::fill(mine, mine + p, 0.0);
      part(first + k, blocks.begin(first + k), blocks.end(first + k), mine);
    });
    if (!done) return false;
    const Blocks stretches(p, 16384);
    team.for_each(stretches.count, [&](Index s) {
      for (Index k = 0; k < count; ++k)
        for (Index j = stretches.begin(s); j < stretches.end(s); ++j) v[j] += parts[k * p + j];
    });
  }
  return true;
}

/// What a Gram pass adds up.
struct GramTask {
  RowList list;
  ConstVector weight;  // by place in the list; empty: one
  double sign;
  bool ones;
  Index d;
  double at(Index k) const { return weight.empty() ? 1.0 : weight[k]; }
};

/// Places [begin, end) of the list as columns of a d × count matrix, each times the root of its weight.
template <class Rows>
void pack(const Rows& rows, const GramTask& task, Index begin, Index end, double* out) {
  for (Index k = begin; k < end; ++k, out += task.d) {
    const double root = std::sqrt(task.at(k));
    if (k + 4 < end) rows.prefetch(task.list[k + 4]);
    if constexpr (is_sparse<Rows>) std::fill(out, out + task.d, 0.0);
    rows.view(task.list[k], [&](const auto& row) {
      for (Index t = 0; t < row.size; ++t) out[row.column(t)] = root * row.value(t);
    });
    if (task.ones) out[task.d - 1] = root;
  }
}

/// Are rows packed and multiplied a few hundred at a time? Sparse ones too, where on average they have so many of their
/// columns that wide instructions gain more than the zeros cost.
template <class Rows>
bool packs(const Rows& rows) {
  if constexpr (!is_sparse<Rows>) return true;
  return static_cast<double>(rows.entries()) > crowded * static_cast<double>(rows.rows() * rows.cols());
}

/// Rows enough that a d × d matrix of their own is little work beside their products: where they are not
/// packed those are counted.
template <class Rows>
Index rows_for_matrix(const Rows& rows, RowList list, Index d) {
  if (packs(rows)) return 2 * d;
  double products = 0;
  for (const auto i : list)
    products += 0.5 * static_cast<double>(rows.entries(i)) * static_cast<double>(rows.entries(i));
  const double needed = 4.0 * static_cast<double>(d) * static_cast<double>(d);
  return static_cast<Index>(static_cast<double>(list.size()) * std::min(1.0, needed / std::max(products, 1.0)));
}

/// h += the sum over places [begin, end) of the list, columns [low, high) only. Columns rise within a row.
template <class Rows>
void gram_sparse(const Rows& rows, const GramTask& task, Index begin, Index end, Index low, Index high, double* h,
                 Team& team) {
  const Index d = task.d;
  const bool whole = low == 0 && high == d;
  for (Index k = begin; k < end && !((k - begin) % 64 == 63 && team.interrupted()); ++k) {
    const double s = task.sign * task.at(k);
    if (k + 4 < end) rows.prefetch(task.list[k + 4]);
    rows.view(task.list[k], [&](const auto& row) {
      Index a = 0;
      // four columns together, with a few entries below the diagonal that nobody reads: short loops cost more by their
      // ends than by their work
      for (; whole && a + 4 <= row.size; a += 4) {
        double x[4], *target[4];
        for (Index c = 0; c < 4; ++c) {
          x[c] = s * row.value(a + c);
          target[c] = h + row.column(a + c) * d;
        }
        for (Index b = 0; b < a + 4; ++b) {
          const Index column = row.column(b);
          const double value = row.value(b);
          for (Index c = 0; c < 4; ++c) target[c][column] += x[c] * value;
        }
      }
      for (; a < row.size; ++a) {
        const Index column = row.column(a);
        if (column < low || column >= high) continue;
        const double x = s * row.value(a);
        double* target = h + column * d;
        for (Index b = 0; b <= a; ++b) target[row.column(b)] += x * row.value(b);
      }
      if (task.ones && high == d) {
        double* target = h + (d - 1) * d;
        for (Index b = 0; b < row.size; ++b) target[row.column(b)] += s * row.value(b);
        target[d - 1] += s;
      }
    });
  }
}

/// The same for all columns, packed and multiplied.
template <class Rows>
void gram_packed(const Rows& rows, const GramTask& task, Index begin, Index end, double* h, Team& team,
                 const Blas& blas) {
  const Index most = std::min(pack_rows, std::max<Index>(end - begin, 1));
  const auto packed = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(task.d * most));
  const int d = static_cast<int>(task.d);
  const double one = 1;
  for (Index k = begin; k < end && !team.interrupted(); k += pack_rows) {
    const Index stop = std::min(k + pack_rows, end);
    const int count = static_cast<int>(stop - k);
    pack(rows, task, k, stop, packed.get());
    blas.dsyrk("U", "N", &d, &count, &task.sign, packed.get(), &d, &one, h, &d);
  }
}

/// The whole list without a matrix for every thread: all pack some rows, then each multiplies them for its own columns.
template <class Rows>
bool gram_by_columns(const Rows& rows, const GramTask& task, double* h, Team& team, const Blas& blas) {
  const Index size = static_cast<Index>(task.list.size()), most = std::min(size, shared_rows);
  const auto packed = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(task.d * most));
  const int d = static_cast<int>(task.d);
  const double one = 1;
  const Blocks tiles(task.d, std::clamp<Index>(task.d / 4, narrowest, 256));
  for (Index first = 0; first < size; first += shared_rows) {
    const Index length = std::min(shared_rows, size - first);
    const int count = static_cast<int>(length);
    const Blocks parts(length, 16);
    const bool ready = team.try_each(parts.count, [&](Index k) {
      pack(rows, task, first + parts.begin(k), first + parts.end(k), packed.get() + parts.begin(k) * task.d);
    });
    const bool added = ready && team.try_each(tiles.count, [&](Index k) {
      const Index tile = tiles.count - 1 - k, low = tiles.begin(tile);  // the longest first
      const int above = static_cast<int>(low), width = static_cast<int>(tiles.end(tile) - low);
      const double* mine = packed.get() + low;
      double* target = h + low * task.d;
      if (above > 0)
        blas.dgemm("N", "T", &above, &width, &count, &task.sign, packed.get(), &d, mine, &d, &one, target, &d);
      blas.dsyrk("U", "N", &width, &count, &task.sign, mine, &d, &one, target + low, &d);
    });
    if (!added) return false;
  }
  return true;
}

/// The entries of some rows, by column.
struct Columns {
  std::vector<Index> starts;
  std::vector<std::uint32_t> place;  // in the list of rows, ascending
  std::vector<double> value;

  template <class Rows>
  Columns(const Rows& rows, RowList list) : starts(static_cast<std::size_t>(rows.cols() + 1)) {
    each(rows, list, [&](Index, Index column, double) { ++starts[column + 1]; });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    place.resize(static_cast<std::size_t>(starts.back()));
    value.resize(place.size());
    std::vector<Index> next(starts);
    each(rows, list, [&](Index k, Index column, double x) {
      place[next[column]] = static_cast<std::uint32_t>(k);
      value[next[column]++] = x;
    });
  }

 private:
  template <class Rows, class F>
  static void each(const Rows& rows, RowList list, F f) {
    for (std::size_t k = 0; k < list.size(); ++k)
      rows.view(list[k], [&](const auto& row) {
        for (Index e = 0; e < row.size; ++e) f(static_cast<Index>(k), row.column(e), row.value(e));
      });
  }
};

/// K for sparse rows, added to zeros: each entry of a row meets those of its column in the rows before; what has no
/// partner costs nothing.
template <class Rows>
bool cross_sparse(const Rows& rows, RowList list, Vector out, Team& team) {
  const Index size = static_cast<Index>(list.size());
  const Columns columns(rows, list);
  const Blocks tiles(size, 128);
  return team.try_each(tiles.count, [&](Index t) {
    const Index tile = tiles.count - 1 - t;
    for (Index b = tiles.begin(tile); b < tiles.end(tile) && !team.interrupted(); ++b) {
      double* products = out.data() + b * size;
      rows.view(list[b], [&](const auto& row) {
        for (Index e = 0; e < row.size; ++e) {
          const double x = row.value(e);
          const Index end = columns.starts[row.column(e) + 1];
          for (Index k = columns.starts[row.column(e)]; k < end && columns.place[k] <= b; ++k)
            products[columns.place[k]] += x * columns.value[k];
        }
      });
    }
  });
}

/// K for dense rows: strips of columns are packed, then multiplied tile by tile.
template <class Rows>
bool cross_dense(const Rows& rows, RowList list, Vector out, Team& team, const Blas& blas) {
  const Index size = static_cast<Index>(list.size()), cols = rows.cols(), strip = std::min<Index>(cols, 256);
  const Blocks tiles(size, 128), parts(size, 256);
  const int ld = static_cast<int>(size);
  const double one = 1;
  std::vector<double> packed(static_cast<std::size_t>(size * strip));
  for (Index low = 0; low < cols; low += strip) {
    const int width = static_cast<int>(std::min(strip, cols - low));
    team.for_each(parts.count, [&](Index part) {
      for (Index i = parts.begin(part); i < parts.end(part); ++i)
        rows.view(list[i], [&](const auto& row) {
          for (int j = 0; j < width; ++j) packed[i * width + j] = row.value(low + j);
        });
    });
    const bool done = team.try_each(tiles.count, [&](Index t) {
      const Index tile = tiles.count - 1 - t, begin = tiles.begin(tile), end = tiles.end(tile);
      const int m = static_cast<int>(end), n = static_cast<int>(end - begin);
      blas.dgemm("T", "N", &m, &n, &width, &one, packed.data(), &width, packed.data() + begin * width, &width, &one,
                 out.data() + begin * ld, &ld);
    });
    if (!done) return false;
  }
  return true;
}

}  // namespace

Blocks Passes::score_blocks(Index count) const {
  return std::visit([&](const auto& rows) { return even_blocks(rows, count); }, rows_);
}

bool Passes::scores(ConstVector w, double b, Vector z, const Then& then) {
  return std::visit(
      [&](const auto& rows) {
        const Blocks blocks = even_blocks(rows, rows.rows());
        return team_.try_each(blocks.count, [&](Index k) {
          for (Index i = blocks.begin(k); i < blocks.end(k); ++i) z[i] = rows.dot(i, w.data()) + b;
          if (then) then(k, blocks.begin(k), blocks.end(k));
        });
      },
      rows_);
}

bool Passes::scores(RowList list, ConstVector w, double b, Vector z, const Then& then) {
  return std::visit(
      [&](const auto& rows) {
        const Blocks blocks = even_blocks(rows, static_cast<Index>(list.size()));
        return team_.try_each(blocks.count, [&](Index k) {
          for (Index i = blocks.begin(k), end = blocks.end(k); i < end; ++i) {
            if (i + 4 < end) rows.prefetch(list[i + 4]);
            z[i] = rows.dot(list[i], w.data()) + b;
          }
          if (then) then(k, blocks.begin(k), blocks.end(k));
        });
      },
      rows_);
}

bool Passes::squares(Vector out) {
  return std::visit(
      [&](const auto& rows) {
        const Blocks blocks = even_blocks(rows, rows.rows());
        return team_.try_each(blocks.count, [&](Index k) {
          for (Index i = blocks.begin(k); i < blocks.end(k); ++i) out[i] = squared_norm(rows, i);
        });
      },
      rows_);
}

bool Passes::combination(ConstVector beta, Vector v) {
  return std::visit(
      [&](const auto& rows) {
        const Blocks blocks(rows.rows(), rows.entries(), rows.cols(), Blocks::solver_share);
        return ordered_sum(team_, blocks, v, [&](Index, Index begin, Index end, double* part) {
          for (Index i = begin; i < end; ++i)
            if (beta[i] != 0) rows.add(i, beta[i], part);
        });
      },
      rows_);
}

bool Passes::scores_and_combination(ConstVector w, double b, Vector z, const Then& weigh, ConstVector beta, Vector v) {
  return std::visit(
      [&](const auto& rows) {
        const Blocks blocks(rows.rows(), rows.entries(), rows.cols(), Blocks::solver_share);
        if (blocks.count < few_blocks) {  // short columns: better two reads by every thread
          const Blocks parts(rows.rows(), (rows.rows() + Blocks::most - 1) / Blocks::most);
          return scores(w, b, z) &&
                 team_.try_each(parts.count, [&](Index k) { weigh(k, parts.begin(k), parts.end(k)); }) &&
                 combination(beta, v);
        }
        const Index some = std::max<Index>(16, cached_entries * rows.rows() / std::max<Index>(rows.entries(), 1));
        return ordered_sum(team_, blocks, v, [&](Index block, Index begin, Index end, double* part) {
          for (Index first = begin; first < end && !team_.interrupted(); first += some) {
            const Index last = std::min(first + some, end);
            for (Index i = first; i < last; ++i) z[i] = rows.dot(i, w.data()) + b;
            weigh(block, first, last);
            for (Index i = first; i < last; ++i)
              if (beta[i] != 0) rows.add(i, beta[i], part);
          }
        });
      },
      rows_);
}

bool Passes::combination(RowList list, ConstVector beta, Vector v) {
  return std::visit(
      [&](const auto& rows) {
        return ordered_sum(team_, list_blocks(rows, list), v, [&](Index, Index begin, Index end, double* part) {
          for (Index k = begin; k < end; ++k) {
            if (k + 4 < end) rows.prefetch(list[k + 4]);
            rows.add(list[k], beta[list[k]], part);
          }
        });
      },
      rows_);
}

bool Passes::product(RowList list, ConstVector d, ConstVector s, Vector u) {
  return std::visit(
      [&](const auto& rows) {
        return ordered_sum(team_, list_blocks(rows, list), u, [&](Index, Index begin, Index end, double* part) {
          const Index p = rows.cols();
          for (Index k = begin; k < end; ++k) {
            if (k + 4 < end) rows.prefetch(list[k + 4]);
            const double t = d[list[k]] * (rows.dot(list[k], s.data()) + s[p]);
            rows.add(list[k], t, part);
            part[p] += t;
          }
        });
      },
      rows_);
}

bool Passes::squares(RowList list, Index step, ConstVector d, Vector q) {
  return std::visit(
      [&](const auto& rows) {
        const RowList sampled = list.first(list.size() / static_cast<std::size_t>(step));
        return ordered_sum(team_, list_blocks(rows, sampled), q, [&](Index, Index begin, Index end, double* part) {
          for (Index k = begin; k < end; ++k) {
            const Index i = list[k * step];
            const double c = d[i] * static_cast<double>(step);
            rows.view(i, [&](const auto& row) {
              for (Index e = 0; e < row.size; ++e) part[row.column(e)] += c * row.value(e) * row.value(e);
            });
          }
        });
      },
      rows_);
}

bool packs_rows(const AnyRows& rows) {
  return std::visit([](const auto& r) { return packs(r); }, rows);
}

bool Passes::gram(RowList list, ConstVector weight, double sign, bool ones, double room, Vector h) {
  const GramTask task{list, weight, sign, ones, p() + (ones ? 1 : 0)};
  const Index d = task.d, size = static_cast<Index>(list.size());
  return std::visit(
      [&](const auto& rows) {
        const double matrices = room / (8.0 * static_cast<double>(d) * static_cast<double>(d));
        const bool large = d > small || matrices < 2, packed = packs(rows);  // large: too large to have several
        if (large && packed) return gram_by_columns(rows, task, h.data(), team_, blas_);
        if constexpr (is_sparse<std::decay_t<decltype(rows)>>)
          if (large) {  // every block its own columns, over all rows
            const Blocks tiles(d, 256);
            return team_.try_each(tiles.count, [&](Index k) {
              const Index tile = tiles.count - 1 - k;  // the longest first
              gram_sparse(rows, task, 0, size, tiles.begin(tile), tiles.end(tile), h.data(), team_);
            });
          }
        const Blocks blocks(size, std::max<Index>({512, (size + 15) / 16, rows_for_matrix(rows, list, d)}));
        if (packed && blocks.count == 1 && d >= 4 * narrowest && size * d * d > worth_sharing)
          return gram_by_columns(rows, task, h.data(), team_, blas_);
        const auto block = [&](Index begin, Index end, double* sum) {
          if constexpr (is_sparse<std::decay_t<decltype(rows)>>)
            if (!packed) return gram_sparse(rows, task, begin, end, 0, d, sum, team_);
          gram_packed(rows, task, begin, end, sum, team_, blas_);
        };
        if (blocks.count == 1) return team_.try_each(1, [&](Index) { block(0, size, h.data()); });
        std::vector<double> sum(h.size());  // every block of rows its own matrix, added in order
        const bool done = ordered_sum(
            team_, blocks, sum, [&](Index, Index begin, Index end, double* part) { block(begin, end, part); },
            static_cast<Index>(std::min<double>(matrices, most_matrices)) - 1);
        for (std::size_t k = 0; k < h.size(); ++k) h[k] += sum[k];
        return done;
      },
      rows_);
}

bool Passes::cross(RowList list, Vector k) {
  std::fill(k.begin(), k.end(), 0.0);
  return std::visit(
      [&](const auto& rows) {
        if constexpr (is_sparse<std::decay_t<decltype(rows)>>)
          return cross_sparse(rows, list, k, team_);
        else
          return cross_dense(rows, list, k, team_, blas_);
      },
      rows_);
}

bool cholesky(Index d, double* a, Team& team, const Blas& blas) {
  constexpr Index panel = 128, tile = 64;
  const int ld = static_cast<int>(d);
  const double one = 1, minus = -1;
  for (Index k = 0; k < d; k += panel) {
    const Index next = std::min(k + panel, d);
    const int width = static_cast<int>(next - k);
    int info = 0;
    double* diagonal = a + k + k * d;
    blas.dpotrf("U", &width, diagonal, &ld, &info);
    if (info != 0) return false;
    if (next == d) break;
    const Blocks tiles(d - next, tile);
    const bool solved = team.try_each(tiles.count, [&](Index t) {
      const int columns = static_cast<int>(tiles.end(t) - tiles.begin(t));
      blas.dtrsm("L", "U", "T", "N", &width, &columns, &one, diagonal, &ld, a + k + (next + tiles.begin(t)) * d, &ld);
    });
    const bool updated = solved && team.try_each(tiles.count, [&](Index t) {
      const Index last = tiles.count - 1 - t, begin = next + tiles.begin(last), end = next + tiles.end(last);
      const int m = static_cast<int>(end - next), n = static_cast<int>(end - begin);
      blas.dgemm("T", "N", &m, &n, &width, &minus, a + k + next * d, &ld, a + k + begin * d, &ld, &one,
                 a + next + begin * d, &ld);
    });
    if (!updated) return false;
  }
  return true;
}

}  // namespace dualgap
