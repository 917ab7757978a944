// The engine of two-variable descent: what pair_dcd.cpp, oneclass_dcd.cpp and svdd_dcd.cpp describe, once.
//
//   max over β of  D(β) = −½‖w‖² + Σ ψᵢ(βᵢ),   w = Σ βᵢxᵢ,   Σβ = t₀
//
//   for pairs (i, j):  d ← the exact step (pair_step.hpp),   βᵢ ← βᵢ + d,   βⱼ ← βⱼ − d,   w ← w + d(xᵢ − xⱼ)
//
// Most random pairs cannot move: one of the two sits at a bound it wants to keep. The greedy choice asks each row what
// it would do at the present price, the running estimate of the intercept b, whose role in the dual is just that. Rows
// that want nothing cost one read, as in dcd. A row that wants up is paired with the waiting row whose stored gradient
// wants down most, and the other way round; where none waits it waits itself, and moves the price its way: demand
// without supply. At the optimum's price nobody waits.
//
// A look costs one read and a move five, so rows whose gradient is small beside what the last epoch saw (a share `calm`
// of its mean square root) are looked at and left; and rows at a bound are shrunk as soon as their slack is above that
// same mean, not above the largest gradient as in dcd: what is hidden wrongly the judge's point shows.
#include "solvers/pair_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "rows/some_rows.hpp"
#include "simd/dot.hpp"
#include "solvers/asking.hpp"
#include "solvers/pair_step.hpp"

namespace dualgap {

namespace {

/// A few rows that wait for a partner, with the gradient they had when they came.
class Waiting {
 public:
  void add(std::uint32_t row, double gradient) {
    if (count_ < size) {
      rows_[count_++] = {row, gradient};
    } else {  // the oldest goes: its gradient has aged most
      rows_[oldest_] = {row, gradient};
      oldest_ = (oldest_ + 1) % size;
    }
  }
  bool empty() const { return count_ == 0; }
  /// The row that wants to move most.
  std::uint32_t take() {
    int best = 0;
    for (int k = 1; k < count_; ++k)
      if (rows_[k].gradient > rows_[best].gradient) best = k;
    const std::uint32_t row = rows_[best].row;
    rows_[best] = rows_[--count_];
    oldest_ = 0;
    return row;
  }

 private:
  struct Entry {
    std::uint32_t row;
    double gradient;
  };
  static constexpr int size = 8;
  Entry rows_[size];
  int count_ = 0, oldest_ = 0;
};

/// z = Xw in one loop a storage.
void score_all(const AnyRows& rows, const std::vector<double>& w, std::vector<double>& z) {
  const auto loop = [&](const auto& r) {
    for (Index i = 0; i < r.rows(); ++i) z[i] = r.dot(i, w.data());
  };
  std::visit(loop, rows);
}

template <class Loss>
class PairDescent {
 public:
  PairDescent(const Problem& problem, const Loss& loss, const PairDescentOptions& options, Control& control)
      : problem_(problem),
        rows_(problem.rows),
        loss_(loss),
        options_(options),
        control_(control),
        random_(options.seed),
        cells_(problem.n()),
        order_(problem.n()),
        spread_(problem.p()),
        width_(rows_.entries() / std::max<Index>(1, problem.n()) + 1) {}

  void run(Answer& answer) {
    start(answer);
    while (!control_.over(epochs_)) {
      const Pass pass = options_.choice == PairDescentOptions::Choice::greedy ? greedy_epoch() : blind_epoch();
      if (control_.stopped()) break;
      ++iterations_;
      update_average();
      if (decide(pass, answer)) break;
    }
    if (!answer.judged) fill(answer, 0);
    answer.w = std::move(*shown_);
    answer.epochs = epochs_;
    answer.iterations = iterations_;
  }

 private:
  struct Cell {
    double beta, q, y, c;  // q = ‖x‖², negative until the row first wants to move
  };
  /// What one epoch saw.
  struct Pass {
    double gap = 0;        // Σ Fenchel–Young terms at the price of the moment
    double loss = 0;       // Σ cℓ
    double violation = 0;  // largest projected gradient
    double squares = 0;    // the sum of their squares, over the rows that have one
    Index wanting = 0;
    double up = 0, down = 0;  // the same among the rows that found no partner, by the way they want to go
    Index visits = 0, changes = 0;
    bool whole = true;    // no row was shrunk when it began
    bool choosy = false;  // rows that want little were left
  };
  /// A point's gap and the size of its objective, as plain sums have them: good enough not to ask the judge in vain.
  struct Value {
    double gap, size;
  };
  enum class Verdict { content, shrunk, wants };
  static constexpr Index length = 8;          // rows that stay together
  static constexpr Index near = 4, far = 12;  // how many rows ahead the row and its place are fetched
  static constexpr Index settling = 3;        // iterations before w is averaged
  static constexpr double haste = 0.01;       // share of a waiting row's gradient by which it moves the price
  static constexpr Index calm_until = 200;    // iterations after which that hinders more than it helps
  static constexpr double calm = 0.5;         // share of the mean gradient below which a row is left where it is

  void start(Answer& answer) {
    const Index n = problem_.n();
    answer.beta.resize(n);
    make_feasible(problem_, answer.beta);
    const bool given = std::ssize(answer.w) == rows_.cols();
    w_ = given ? std::move(answer.w) : std::vector<double>(rows_.cols());
    for (Index i = 0; i < n && !control_.tick(given ? 1 : rows_.entries(i)); ++i) {
      cells_[i] = {answer.beta[i], -1.0, problem_.y[i], problem_.cost(i)};
      if (cells_[i].beta != 0 && !given) rows_.add(i, cells_[i].beta, w_.data());
    }
    price_ = answer.b;
    std::iota(order_.begin(), order_.end(), 0u);
    active_ = n;
    if (!options_.first.empty()) begin_with(options_.first);
  }

  /// Only these rows at first; the others are as if shrunk.
  void begin_with(const std::vector<std::uint32_t>& rows) {
    std::vector<std::uint8_t> chosen(order_.size());
    for (const std::uint32_t i : rows) chosen[i] = 1;
    const auto rest =
        std::stable_partition(order_.begin(), order_.end(), [&](std::uint32_t i) { return chosen[i] != 0; });
    active_ = rest - order_.begin();
  }

  Pass greedy_epoch() {
    Pass pass = begin_epoch();
    shuffle_runs();
    Index work = 0;
    for (Index k = 0; k < active_;) {
      if ((pass.visits & 127) == 0 && control_.tick(std::exchange(work, 0))) break;
      if (k + far < active_) {
        rows_.prefetch_place(order_[k + far]);
        __builtin_prefetch(&cells_[order_[k + far]]);
        rows_.prefetch(order_[k + near]);
      }
      const std::uint32_t i = order_[k];
      const double z = score(i, pass, work);
      const Verdict verdict = look_at(i, z, pass);
      if (verdict == Verdict::shrunk) {
        std::swap(order_[k], order_[--active_]);
        continue;
      }
      ++k;
      if (verdict == Verdict::wants) trade(i, z, pass, work);
    }
    end_epoch(pass, work);
    return pass;
  }

  /// Runs of neighbours in random order, as in descent.cpp; less than a run is left at the end and stays there. The
  /// place of a shrunk row is taken by another, so runs loosen with time.
  void shuffle_runs() {
    for (Index last = active_ / length - 1; last > 0; --last) {
      const auto other = static_cast<Index>(random_.below(static_cast<std::uint32_t>(last + 1)));
      if (other != last)
        std::swap_ranges(order_.begin() + last * length, order_.begin() + (last + 1) * length,
                         order_.begin() + other * length);
    }
  }

  /// Row i looks for partners on the other side until one step is taken; where there is none it waits.
  void trade(std::uint32_t i, double z, Pass& pass, Index& work) {
    const Cell& cell = with_norm(i);
    const double wish = loss_.prox(cell.y, cell.c, cell.beta, z + price_, cell.q).beta - cell.beta;
    if (wish == 0) return;
    Waiting& others = wish > 0 ? wants_down_ : wants_up_;
    while (!others.empty()) {
      const std::uint32_t j = others.take();
      if (j != i && move(i, z, j, score(j, pass, work), pass, work)) return;
    }
    // in units of the score, also where `slack` is not
    const double gradient = std::max(-loss_.slack(cell.y, cell.c, cell.beta, z + price_), std::abs(wish) * cell.q);
    (wish > 0 ? wants_up_ : wants_down_).add(i, gradient);
    (wish > 0 ? pass.up : pass.down) = std::max(wish > 0 ? pass.up : pass.down, gradient);
    price_ += wish > 0 ? haste * gradient : -haste * gradient;
  }

  /// Pairs without a look at gradients: all of them in turn, or both drawn.
  Pass blind_epoch() {
    price_ = best_intercept(w_, price_);
    Pass pass = begin_epoch();
    const bool cyclic = options_.choice == PairDescentOptions::Choice::cyclic;
    if (iterations_ == 0 || (cyclic && shift_ >= active_)) {
      random_.shuffle(std::span(order_).first(active_));
      shift_ = 1;
    }
    Index work = 0;
    const auto draw = [&] { return static_cast<Index>(random_.below(static_cast<std::uint32_t>(active_))); };
    for (Index k = 0; k < active_ && active_ > 1; ++k) {
      if ((k & 63) == 0 && control_.tick(std::exchange(work, 0))) break;
      const Index at = cyclic ? k : draw(), with = cyclic ? (k + shift_) % active_ : draw();
      if (at == with) continue;
      const std::uint32_t i = order_[at], j = order_[with];
      const double z = score(i, pass, work);
      const Verdict verdict = look_at(i, z, pass);
      if (verdict == Verdict::shrunk)
        std::swap(order_[at], order_[--active_]);
      else
        move(i, z, j, score(j, pass, work), pass, work);
    }
    ++shift_;
    pass.visits += problem_.n();  // the price's pass
    work += rows_.entries() + 10 * problem_.n();
    end_epoch(pass, work);
    return pass;
  }

  Pass begin_epoch() const {
    Pass pass;
    pass.whole = active_ == problem_.n();
    pass.choosy = small_ > 0;
    return pass;
  }
  void end_epoch(Pass& pass, Index work) {
    control_.tick(work);
    pass.gap *= Loss::check_every;
    pass.loss *= Loss::check_every;
    unaveraged_ += pass.visits * rows_.entries() / problem_.n();
    epochs_ += static_cast<double>(pass.visits) / static_cast<double>(problem_.n());
    const double mean = pass.wanting > 0 ? std::sqrt(pass.squares / static_cast<double>(pass.wanting)) : 0.0;
    threshold_ = mean > 0 ? mean : infinity;
    small_ = pass.changes > 0 && iterations_ < calm_until ? calm * mean : 0.0;
  }

  double score(std::uint32_t i, Pass& pass, Index& work) const {
    work += width_;
    ++pass.visits;
    return rows_.dot(i, w_.data());
  }

  Cell& with_norm(std::uint32_t i) {
    Cell& cell = cells_[i];
    if (cell.q < 0) cell.q = squared_norm(rows_, i);
    return cell;
  }

  /// What does row i want at this price? Its share of the gap is added up on the way.
  Verdict look_at(std::uint32_t i, double z, Pass& pass) {
    const Cell& cell = cells_[i];
    z += price_;
    const double slack = loss_.slack(cell.y, cell.c, cell.beta, z);
    if (options_.shrinking && slack > threshold_) return Verdict::shrunk;
    if (slack < 0) {
      pass.violation = std::max(pass.violation, -slack);
      pass.squares += slack * slack;
      ++pass.wanting;
    }
    if (pass.visits % Loss::check_every == 0) {
      const double value = cell.c * loss_.value(cell.y, z);
      pass.loss += value;
      pass.gap += value - loss_.dual(cell.y, cell.c, cell.beta) + cell.beta * z;
    }
    return slack < -small_ ? Verdict::wants : Verdict::content;
  }

  /// The exact step of the pair. True: something moved.
  bool move(std::uint32_t i, double zi, std::uint32_t j, double zj, Pass& pass, Index& work) {
    Cell &a = with_norm(i), &b = with_norm(j);
    const double size = a.q + b.q, across = size - 2 * inner(i, j), q = across > 1e-14 * size ? across : 0.0;
    work += 2 * width_;
    const PairSide left{a.beta, a.y, a.c, zi}, right{b.beta, b.y, b.c, zj};
    const double d = pair_step(loss_, left, right, q, size, price_);
    if (d == 0) return false;
    place(a, d);
    place(b, -d);
    rows_.add(i, d, w_.data());
    rows_.add(j, -d, w_.data());
    ++pass.changes;
    return true;
  }

  /// βᵢ + d, at the bound itself where d is the way to it.
  void place(Cell& cell, double d) const {
    const Interval box = loss_.box(cell.y, cell.c);
    cell.beta = d == box.high - cell.beta ? box.high : d == box.low - cell.beta ? box.low : box.clip(cell.beta + d);
  }

  /// xᵢᵀxⱼ, by spreading xᵢ over a vector of zeros.
  double inner(std::uint32_t i, std::uint32_t j) {
    rows_.add(i, 1.0, spread_.data());
    const double product = rows_.dot(j, spread_.data());
    rows_.view(i, [&](const auto& row) {
      for (Index k = 0; k < row.size; ++k) spread_[row.column(k)] = 0;
    });
    return product;
  }

  /// w̄ ← w̄ + (w − w̄)·4/(k+3), as in descent.cpp, but not while w still comes from far, nor before the rows read are
  /// worth the p additions.
  void update_average() {
    if (unaveraged_ < rows_.cols() || iterations_ <= settling) return;
    unaveraged_ = 0;
    average_.resize(w_.size());
    const double t = 4.0 / (static_cast<double>(++averaged_) + 3.0);
    for (std::size_t j = 0; j < w_.size(); ++j) average_[j] += t * (w_[j] - average_[j]);
    average_price_ += t * (price_ - average_price_);
  }

  /// Is the judge to be asked now, and what does he say? True: leave.
  bool decide(const Pass& pass, Answer& answer) {
    if (pass.whole || size_ == 0)
      size_ = std::max(std::abs(0.5 * squared(w_) + pass.loss + problem_.total * price_), problem_.floor);
    const double estimate = pass.gap / std::max(size_, 1e-300);
    idle_ = pass.changes == 0 && !pass.choosy ? idle_ + 1 : 0;
    const bool still = idle_ >= patience();
    if (idle_ > 0) price_ += 0.5 * (pass.up - pass.down);  // everyone waits on one side: between them and the content
    const bool due = still || idle_ == 1 || asking_.due(estimate, iterations_, control_.tol);
    if (!due && !control_.watched()) return false;
    const Value value = fill(answer, pass.violation);
    if (due) size_ = value.size;
    const bool hopeless = due && !still && value.gap > (1.01 * control_.tol + 1e-12) * size_;
    const auto purpose = due && !hopeless ? Control::Purpose::decide : Control::Purpose::show;
    if ((!hopeless || control_.watched()) &&
        control_.ask(problem_, options_.name, epochs_, active_, *shown_, answer.b, answer.beta, purpose)) {
      answer.judged = true;
      return true;
    }
    if (!due) return false;
    asking_.learn(hopeless ? value.gap / size_ : control_.certificate().relative_gap, estimate, iterations_);
    idle_ > 0 ? open_all() : open_wanting(answer.b);
    if (still) control_.stop(Status::stalled);
    return control_.stopped();
  }

  /// All rows were scored to find the gap: of the shrunk ones those come back that would not be shrunk again.
  void open_wanting(double b) {
    for (Index k = active_; k < problem_.n(); ++k) {
      const Cell& cell = cells_[order_[k]];
      const double slack = loss_.slack(cell.y, cell.c, cell.beta, z_[order_[k]] + b);
      if (slack <= threshold_) std::swap(order_[k], order_[active_++]);
    }
  }
  void open_all() {
    active_ = problem_.n();
    threshold_ = infinity;
  }

  /// How many epochs without a step mean that there is none: a blind choice needs all pairs.
  Index patience() const { return options_.choice == PairDescentOptions::Choice::greedy ? 60 : 30 + problem_.n(); }

  /// The point to show: the last β with the better of the average and the last w (`shown_`), and the b that is best for
  /// that w.
  Value fill(Answer& answer, double reach) {
    answer.beta.resize(cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) answer.beta[i] = cells_[i].beta;
    const double last2 = squared(w_), mean2 = averaged_ > 1 ? squared(average_) : infinity;
    const bool averaged = mean2 < infinity && sampled(average_, mean2, average_price_) < sampled(w_, last2, price_);
    shown_ = averaged ? &average_ : &w_;
    answer.b = best_intercept(*shown_, averaged ? average_price_ : price_, reach);
    double primal = 0.5 * (averaged ? mean2 : last2) + problem_.total * answer.b, dual = -0.5 * last2;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      primal += cells_[i].c * loss_.value(cells_[i].y, z_[i] + answer.b);
      dual += loss_.dual(cells_[i].y, cells_[i].c, cells_[i].beta);
    }
    return {primal - dual, std::max({std::abs(primal), std::abs(dual), problem_.floor, 1e-300})};
  }

  /// P(w, b) on a sample of rows, the same one for every question of an epoch; `norm2` is ‖w‖².
  double sampled(const std::vector<double>& w, double norm2, double b) const {
    const Index n = problem_.n(), step = std::max<Index>(1, std::min<Index>(32, n / 200));
    double sum = 0;
    Index count = 0;
    for (Index i = iterations_ % step; i < n; i += step, ++count)
      sum += cells_[i].c * loss_.value(cells_[i].y, rows_.dot(i, w.data()) + b);
    return 0.5 * norm2 + problem_.total * b + sum * static_cast<double>(n) / static_cast<double>(count);
  }

  /// argmin of P(w, ·): the b at which the implied multipliers −cℓ′(z + b) sum to t₀. Their sum falls in b; the search
  /// begins at `guess`, where the free rows put it, and ends when what is left cannot matter to the gap.
  double best_intercept(const std::vector<double>& w, double guess, double reach = 0) {
    z_.resize(cells_.size());
    score_all(problem_.rows, w, z_);
    Implied implied(*this);
    double low = guess, high = guess, at = implied.excess(guess), f_low = at, f_high = at;
    if (at == 0) return guess;
    reach = std::max(0.1 * reach, 1e-4 * (1e-3 + std::abs(guess)));
    const double way = at > 0 ? 1.0 : -1.0;
    for (int k = 0; k < 200 && f_low * f_high > 0; ++k, reach *= 3) {
      double& end = way > 0 ? high : low;
      (way > 0 ? low : high) = end;
      (way > 0 ? f_low : f_high) = way > 0 ? f_high : f_low;
      (way > 0 ? f_high : f_low) = implied.excess(end += way * reach);
    }
    if (f_low * f_high == 0) return f_low == 0 ? low : high;
    const double enough = 0.01 * control_.tol * size_;
    for (int k = 0; k < 100; ++k) {
      const double width = high - low;
      if (width * std::min(f_low, -f_high) <= enough && k > 3) break;
      implied.narrow(low, high);
      const double secant = low + width * (f_low / (f_low - f_high));
      const double b = k % 2 == 0 && secant > low && secant < high ? secant : 0.5 * (low + high);
      if (b <= low || b >= high) break;
      const double f = implied.excess(b);
      if (f == 0) return b;
      (f > 0 ? low : high) = b;
      (f > 0 ? f_low : f_high) = f;
    }
    return f_low < -f_high ? low : high;
  }

  /// The multipliers −cℓ′(z + b) that an intercept implies. Where the loss has a kink most of them are the same at both
  /// ends of a bracket: these are added up once and left.
  class Implied {
   public:
    explicit Implied(const PairDescent& at) : at_(at), live_(at.cells_.size()), settled_(-at.problem_.total) {
      std::iota(live_.begin(), live_.end(), 0u);
    }
    /// Σ −cℓ′ − t₀; 0 where it is rounding.
    double excess(double b) const {
      double sum = settled_, size = settled_size_;
      for (const std::uint32_t i : live_) {
        const double beta = one(i, b);
        sum += beta;
        size += std::abs(beta);
      }
      return std::abs(sum) <= 1e-13 * size ? 0.0 : sum;
    }
    void narrow(double low, double high) {
      if constexpr (Loss::kinked)
        std::erase_if(live_, [&](std::uint32_t i) {
          const double beta = one(i, low);
          if (beta != one(i, high)) return false;
          settled_ += beta;
          settled_size_ += std::abs(beta);
          return true;
        });
    }

   private:
    double one(std::uint32_t i, double b) const {
      const Cell& cell = at_.cells_[i];
      return at_.loss_.prox(cell.y, cell.c, cell.beta, at_.z_[i] + b, 0.0).beta;
    }
    const PairDescent& at_;
    std::vector<std::uint32_t> live_;
    double settled_, settled_size_ = 0;
  };

  const Problem& problem_;
  const SomeRows rows_;
  const Loss& loss_;
  const PairDescentOptions& options_;
  Control& control_;
  Random random_;
  Asking asking_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> order_;
  std::vector<double> w_, average_, spread_, z_;
  std::vector<double>* shown_ = &w_;  // the one of w and w̄ that was shown last
  Waiting wants_up_, wants_down_;
  double price_ = 0, average_price_ = 0;
  double threshold_ = infinity, small_ = 0;
  double size_ = 0;  // of the objective, to make gaps relative
  double epochs_ = 0;
  Index width_;                          // entries of a row in the mean: what a visit costs
  Index averaged_ = 0, unaveraged_ = 0;  // how often w̄ moved, and entries read since
  Index active_ = 0, iterations_ = 0, idle_ = 0, shift_ = 1;
};

}  // namespace

void descend_pairs(const Problem& problem, Answer& answer, const PairDescentOptions& options, Control& control) {
  std::visit([&](const auto& loss) { PairDescent(problem, loss, options, control).run(answer); }, problem.loss);
}

}  // namespace dualgap
