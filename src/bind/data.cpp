// Matrices, problems, losses and the judge.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/errors.hpp"
#include "common.hpp"
#include "judge/judge.hpp"
#include "rows/check.hpp"
#include "simd/table.hpp"

namespace dualgap::bind {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

template <class T>
AnyRows dense_rows(const AnyArray& a) {
  const Index rows = static_cast<Index>(a.shape(0)), cols = static_cast<Index>(a.shape(1));
  const T* data = static_cast<const T*>(a.data());
  if (a.stride(1) == 1 || cols <= 1) return DenseRows<T>(data, rows, cols, a.stride(0));
  return StridedRows<T>(data, rows, cols, a.stride(0), a.stride(1));
}

Matrix dense(const nb::object& array) {
  const auto a = nb::cast<AnyArray>(array);
  if (a.ndim() != 2) throw InvalidData("Expected a table of rows and columns.");
  if (a.dtype() == nb::dtype<double>()) return {dense_rows<double>(a), {array}, "dense float64", true};
  if (a.dtype() == nb::dtype<float>()) return {dense_rows<float>(a), {array}, "dense float32", true};
  throw InvalidData("Expected float32 or float64 values.");
}

template <class T>
AnyRows csr_rows(const AnyArray& data, const Pattern& pattern, Index rows, Index cols) {
  const T* values = static_cast<const T*>(data.data());
  const Index count = pattern.start(rows);
  if (all_equal(values, count)) return CsrRows<EqualValues>({static_cast<double>(values[0])}, pattern, rows, cols);
  return CsrRows<StoredValues<T>>({values}, pattern, rows, cols);
}

Matrix csr(const nb::object& data, const nb::object& indices, const nb::object& indptr, Index rows, Index cols) {
  const auto values = nb::cast<AnyArray>(data), columns = nb::cast<AnyArray>(indices),
             starts = nb::cast<AnyArray>(indptr);
  const auto wide = [](const AnyArray& a) {
    if (a.dtype() == nb::dtype<std::int64_t>()) return true;
    if (a.dtype() == nb::dtype<std::int32_t>()) return false;
    throw InvalidData("Expected int32 or int64 indices.");
  };
  const Pattern pattern{starts.data(), columns.data(), wide(starts), wide(columns)};
  if (static_cast<Index>(starts.size()) != rows + 1)
    throw InvalidData("indptr has " + std::to_string(starts.size()) + " entries for " + std::to_string(rows) +
                      " rows.");
  const PatternFacts facts = check_pattern(pattern, rows, cols, std::min<Index>(columns.size(), values.size()));
  const bool narrow = values.dtype() == nb::dtype<float>();
  if (!narrow && values.dtype() != nb::dtype<double>()) throw InvalidData("Expected float32 or float64 values.");
  AnyRows view = narrow ? csr_rows<float>(values, pattern, rows, cols) : csr_rows<double>(values, pattern, rows, cols);
  return {view, {data, indices, indptr}, narrow ? "csr float32" : "csr float64", facts.increasing};
}

/// A column's entries among the rows that were looked at.
struct Column {
  double squares = 0, seen = 0;
  /// Their root mean square; 0 where they are too few to tell: one entry next to zero does not make a small column.
  double scale() const { return seen >= 4 ? std::sqrt(squares / seen) : 0.0; }
};

/// Calls look(i, share) for rows with some ten thousand entries together: some 1,000 rows at most, and some 200 at
/// least unless these had more than sixty thousand entries; never fewer than 32.
template <class Rows, class Look>
void look_at_some(const Rows& rows, double length, Look look) {
  constexpr double much = 10000, least = 200, most = 1000, few = 32, too_much = 60000;
  const double at_least = std::clamp(too_much / std::max(length, 1.0), few, least);
  const double wanted = std::clamp(much / std::max(length, 1.0), at_least, most);
  const Index n = rows.rows(), step = std::max<Index>(1, n / static_cast<Index>(wanted)), count = (n + step - 1) / step;
  for (Index i = 0; i < n; i += step) look(i, 1 / static_cast<double>(count));
}

double entries_in_a_row(const Matrix& matrix) {
  return static_cast<double>(count_entries(matrix.rows)) / static_cast<double>(count_rows(matrix.rows));
}

template <class Rows>
void add_entries(const Rows& rows, Index i, std::vector<Column>& columns) {
  rows.view(i, [&](const auto& row) {
    for (Index k = 0; k < row.size; ++k) {
      Column& column = columns[row.column(k)];
      column.squares += row.value(k) * row.value(k);
      column.seen += 1;
    }
  });
}

/// What choosing a solver needs: mean number of entries; from some rows mean ‖x‖² and number of pairs of entries; and,
/// where columns are not too many to look at, the smallest and the largest scale of a column.
nb::tuple profile(const Matrix& matrix) {
  constexpr Index many_columns = 20000;
  double squares = 0, pairs = 0;
  const Index cols = count_cols(matrix.rows);
  const bool look = matrix.storage.starts_with("dense") || cols <= many_columns;
  std::vector<Column> columns(look ? cols : 0);
  const double length = entries_in_a_row(matrix);
  std::visit(
      [&](const auto& rows) {
        look_at_some(rows, length, [&](Index i, double share) {
          const auto size = static_cast<double>(rows.entries(i));
          pairs += share * 0.5 * size * (size + 1);
          squares += share * squared_norm(rows, i);
          if (look) add_entries(rows, i, columns);
        });
      },
      matrix.rows);
  double smallest = infinity, largest = 0;
  for (const Column& column : columns) {
    const double scale = column.scale();
    if (!(scale > 0)) continue;
    smallest = std::min(smallest, scale);
    largest = std::max(largest, scale);
  }
  return nb::make_tuple(squares, length, pairs, smallest, largest);
}

/// The scale of every column, from the rows that `profile` looks at.
OutVector column_scales(const Matrix& matrix) {
  std::vector<Column> columns(count_cols(matrix.rows));
  const double length = entries_in_a_row(matrix);
  std::visit(
      [&](const auto& rows) { look_at_some(rows, length, [&](Index i, double) { add_entries(rows, i, columns); }); },
      matrix.rows);
  std::vector<double> scales(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) scales[j] = columns[j].scale();
  return to_numpy(std::move(scales));
}

BoundProblem make_problem(const nb::object& matrix, const InVector& y, const std::optional<InVector>& weight, double C,
                          const std::string& loss, double parameter, int intercept, double scale) {
  const auto made = make_loss(loss, parameter);
  if (!made) throw InvalidData("Unknown loss '" + loss + "'.");
  const AnyRows& rows = nb::cast<const Matrix&>(matrix).rows;
  nb::list keep;
  keep.append(matrix);
  keep.append(nb::cast(y));
  if (weight) keep.append(nb::cast(*weight));
  return {{rows, view(y), weight ? weight->data() : nullptr, C, *made, static_cast<Intercept>(intercept), scale}, keep};
}

Certificate judged(const BoundProblem& problem, const InVector& w, double b,
                   nb::ndarray<double, nb::ndim<1>, nb::c_contig> beta, int threads) {
  Team team(threads);
  const nb::gil_scoped_release release;
  return judge(problem.problem, view(w), b, {beta.data(), beta.size()}, team);
}

double objective(const BoundProblem& problem, const InVector& w, double b, int threads) {
  Team team(threads);
  const nb::gil_scoped_release release;
  return primal_objective(problem.problem, view(w), b, team);
}

OutVector dual_from_primal(const BoundProblem& problem, const InVector& w, double b, int threads) {
  std::vector<double> beta(problem.problem.n());
  {
    Team team(threads);
    const nb::gil_scoped_release release;
    implied_dual(problem.problem, view(w), b, beta, team);
  }
  return to_numpy(std::move(beta));
}

nb::list describe_losses() {
  nb::list list;
  for (const LossEntry& entry : loss_list())
    std::visit(
        [&](const auto& loss) {
          using Loss = std::decay_t<decltype(loss)>;
          nb::dict d;
          d["name"] = Loss::name;
          d["formula"] = entry.formula;
          d["targets"] = Loss::targets == Targets::sign ? "sign" : "real";
          d["smooth"] = Loss::smooth;
          d["kinked"] = Loss::kinked;
          d["bounded"] = std::isfinite(loss.box(1.0, 1.0).high);
          d["parameter"] = entry.parameter;
          if constexpr (sizeof(Loss) == sizeof(double)) {
            double value;
            static_assert(std::is_trivially_copyable_v<Loss>);
            std::memcpy(&value, &loss, sizeof value);
            d["default"] = value;
          } else {
            d["default"] = 0.0;
          }
          d["low"] = entry.range.low;
          d["high"] = entry.range.high;
          list.append(d);
        },
        entry.loss);
  return list;
}

/// A dense copy, row after row.
OutVector entries_of(const Matrix& a) {
  const Index cols = count_cols(a.rows);
  std::vector<double> all(static_cast<std::size_t>(count_rows(a.rows) * cols));
  std::visit(
      [&](const auto& rows) {
        for (Index i = 0; i < rows.rows(); ++i)
          rows.view(i, [&](const auto& row) {
            for (Index k = 0; k < row.size; ++k) all[i * cols + row.column(k)] = row.value(k);
          });
      },
      a.rows);
  return to_numpy(std::move(all));
}

/// One row's primitives: for methods written in Python, and the tests that walk the registry.
nb::tuple row_primitives(const std::string& name, double parameter, double y, double c, double beta, double z,
                         double q) {
  const auto loss = make_loss(name, parameter);
  if (!loss) throw InvalidData("Unknown loss '" + name + "'.");
  return std::visit(
      [&](const auto& l) {
        const Step step = l.prox(y, c, beta, z, q);
        const Interval box = l.box(y, c);
        return nb::make_tuple(l.value(y, z), l.dual(y, c, beta), box.low, box.high, step.beta, step.slope,
                              l.slack(y, c, beta, z));
      },
      *loss);
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<Matrix>(m, "Matrix")
      .def_prop_ro("rows", [](const Matrix& a) { return count_rows(a.rows); })
      .def_prop_ro("cols", [](const Matrix& a) { return count_cols(a.rows); })
      .def_prop_ro("entries", [](const Matrix& a) { return count_entries(a.rows); })
      .def_ro("storage", &Matrix::storage)
      .def_ro("increasing", &Matrix::increasing)
      .def("all_entries", &entries_of)
      .def("profile", &profile)
      .def("column_scales", &column_scales)
      .def("all_fit", [](const Matrix& a, int threads) {
        Team team(threads);
        const nb::gil_scoped_release release;
        return all_fit(a.rows, team);
      });
  m.def("dense", &dense);
  m.def("csr", &csr);
  nb::class_<BoundProblem>(m, "Problem")
      .def(
          "__init__",
          [](BoundProblem* self, const nb::object& matrix, const InVector& y, const std::optional<InVector>& weight,
             double C, const std::string& loss, double parameter, int intercept, double scale) {
            new (self) BoundProblem(make_problem(matrix, y, weight, C, loss, parameter, intercept, scale));
          },
          nb::arg("matrix"), nb::arg("y"), nb::arg("weight").none(), nb::arg("C"), nb::arg("loss"),
          nb::arg("parameter"), nb::arg("intercept"), nb::arg("scale"));
  nb::class_<Certificate>(m, "Certificate")
      .def_ro("primal", &Certificate::primal)
      .def_ro("dual", &Certificate::dual)
      .def_ro("gap", &Certificate::gap)
      .def_ro("relative_gap", &Certificate::relative_gap)
      .def_ro("rounding", &Certificate::rounding)
      .def_ro("moved", &Certificate::moved);
  m.def("judge", &judged);
  m.def("objective", &objective);
  m.def("implied_dual", &dual_from_primal);
  m.def("losses", &describe_losses);
  m.def("row_primitives", &row_primitives);
  m.def("simd_level", [] { return simd::active().name; });
  m.def("simd_has", [](const std::string& name) { return simd::find(name.c_str()) != nullptr; });
}

}  // namespace dualgap::bind
