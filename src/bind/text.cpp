// svmlight text: sources, tables as NumPy arrays, and the writer.
#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/errors.hpp"
#include "common.hpp"
#include "text/reader.hpp"
#include "text/writer.hpp"

namespace dualgap::bind {

namespace {

using namespace dualgap::text;
using AnyArray = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig, nb::ndim<1>>;

/// Anything with read(size) -> bytes: decompressors, sockets, files of other libraries.
class CalledSource final : public Source {
 public:
  explicit CalledSource(nb::object read) : read_(std::move(read)) {}
  std::size_t read(char* to, std::size_t size) override {
    const nb::gil_scoped_acquire acquire;
    const nb::object answer = read_(size);
    if (!nb::isinstance<nb::bytes>(answer)) throw nb::type_error("Expected read() to return bytes.");
    const auto bytes = nb::borrow<nb::bytes>(answer);
    if (bytes.size() > size) throw nb::value_error("read() returned more than it was asked for.");
    std::memcpy(to, bytes.c_str(), bytes.size());
    return bytes.size();
  }

 private:
  nb::object read_;
};

std::unique_ptr<Source> make_source(const nb::object& from) {
  if (nb::isinstance<nb::int_>(from)) return std::make_unique<FileSource>(nb::cast<int>(from));
  if (nb::isinstance<nb::bytes>(from)) {
    const auto bytes = nb::borrow<nb::bytes>(from);
    return std::make_unique<MemorySource>(bytes.c_str(), bytes.size());
  }
  if (nb::isinstance<nb::tuple>(from)) {  // a descriptor and what was read of it already
    const auto head = nb::cast<nb::bytes>(from[1]);
    return std::make_unique<FileSource>(nb::cast<int>(from[0]), std::string(head.c_str(), head.size()));
  }
  return std::make_unique<CalledSource>(from);
}

template <class T>
nb::object array(Store& store, Index count) {
  void* data = store.release();
  const nb::capsule keep(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {static_cast<std::size_t>(count)}, keep));
}

nb::object whole_array(Store& store, Index count, bool wide) {
  return wide ? array<Index>(store, count) : array<std::int32_t>(store, count);
}

nb::dict to_dict(Table& table, const Reading& reading) {
  nb::dict d;
  d["rows"] = table.rows;
  d["lowest"] = table.entries > 0 ? table.lowest : -1;
  d["highest"] = table.highest;
  d["bytes"] = table.bytes;
  d["lines"] = table.lines;
  d["data"] = table.single ? array<float>(table.values, table.entries) : array<double>(table.values, table.entries);
  d["indices"] = whole_array(table.columns, table.entries, table.wide);
  d["indptr"] = whole_array(table.ends, table.rows + 1, table.wide);
  d["labels"] = array<double>(table.labels, table.label_total);
  if (reading.format.labels == Labels::many) d["label_counts"] = array<std::int32_t>(table.label_counts, table.rows);
  if (reading.format.queries) d["queries"] = array<Index>(table.queries, table.query_total);
  return d;
}

/// A dictionary of arrays, or a tuple (line, column, found, expected) for the first malformed line.
nb::object read_table(const nb::object& from, const std::string& values, bool many_labels, bool queries,
                      const std::string& base, int threads, const nb::object& progress) {
  Reading reading;
  reading.format.labels = many_labels ? Labels::many : Labels::one;
  reading.format.base = base == "zero" ? Base::zero : base == "one" ? Base::one : Base::unknown;
  reading.format.queries = queries;
  reading.precision = values == "single" ? Precision::single : values == "exact" ? Precision::exact : Precision::full;
  reading.threads = threads;
  reading.poll = [] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  if (!progress.is_none())
    reading.progress = [&](Index bytes) {
      const nb::gil_scoped_acquire acquire;
      progress(bytes);
    };
  try {
    const auto source = make_source(from);
    Table table;
    {
      const nb::gil_scoped_release release;
      table = read_svmlight(*source, reading);
    }
    return to_dict(table, reading);
  } catch (const Malformed& bad) {
    const Fault& f = bad.fault;
    return nb::make_tuple(f.line, f.column, f.found, f.expected);
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
}

template <class A, class B>
std::variant<const A*, const B*> pointer(const AnyArray& a, const char* wrong) {
  if (a.dtype() == nb::dtype<A>()) return static_cast<const A*>(a.data());
  if (a.dtype() == nb::dtype<B>()) return static_cast<const B*>(a.data());
  throw InvalidData(wrong);
}

nb::list write_table(const AnyArray& values, const AnyArray& columns, const AnyArray& starts, const InVector& labels,
                     const std::optional<nb::ndarray<const Index, nb::ndim<1>, nb::c_contig>>& label_starts,
                     const std::optional<nb::ndarray<const Index, nb::ndim<1>, nb::c_contig>>& queries,
                     Index first_column, int threads) {
  Sheet sheet;
  sheet.rows = static_cast<Index>(starts.size()) - 1;
  sheet.values = pointer<double, float>(values, "Expected float32 or float64 values.");
  sheet.columns = pointer<std::int32_t, Index>(columns, "Expected int32 or int64 indices.");
  sheet.starts = pointer<std::int32_t, Index>(starts, "Expected int32 or int64 indices.");
  sheet.labels = labels.data();
  if (label_starts) sheet.label_starts = label_starts->data();
  if (queries) sheet.queries = queries->data();
  sheet.first_column = first_column;
  std::vector<std::string> parts;
  {
    const nb::gil_scoped_release release;
    parts = write_svmlight(sheet, threads);
  }
  nb::list list;
  for (const std::string& part : parts) list.append(nb::bytes(part.data(), part.size()));
  return list;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("read_svmlight", &read_table, nb::arg("source"), nb::arg("values"), nb::arg("many_labels"), nb::arg("queries"),
        nb::arg("base"), nb::arg("threads"), nb::arg("progress").none());
  m.def("write_svmlight", &write_table, nb::arg("values"), nb::arg("columns"), nb::arg("starts"), nb::arg("labels"),
        nb::arg("label_starts").none(), nb::arg("queries").none(), nb::arg("first_column"), nb::arg("threads"));
}

}  // namespace dualgap::bind
