// libFuzzer on the svmlight reader: every way of reading the same bytes must agree, and what was read, written and
// read again must be the same. Built by `make fuzz` with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "text/reader.hpp"
#include "text/writer.hpp"

namespace {

using namespace dualgap;
using namespace dualgap::text;

struct Outcome {
  bool read = false;
  Fault fault;
  Table table;
};

Outcome attempt(const char* data, std::size_t size, const Format& format, int threads, std::size_t piece,
                Precision precision = Precision::full) {
  Outcome outcome;
  MemorySource source(data, size);
  Reading reading;
  reading.format = format;
  reading.precision = precision;
  reading.threads = threads;
  reading.piece_bytes = piece;
  try {
    outcome.table = read_svmlight(source, reading);
    outcome.read = true;
  } catch (const Malformed& bad) {
    outcome.fault = bad.fault;
  }
  return outcome;
}

void require(bool holds) {
  if (!holds) std::abort();
}

/// Only a word longer than a piece may be refused in one way of reading and not in another.
bool too_long(const Outcome& o) { return !o.read && o.fault.expected == "a shorter word"; }

std::string written(const Outcome& o) {
  Sheet sheet;
  sheet.rows = o.table.rows;
  sheet.values = static_cast<const double*>(o.table.values.as<double>());
  if (o.table.wide) {
    sheet.columns = static_cast<const Index*>(o.table.columns.as<Index>());
    sheet.starts = static_cast<const Index*>(o.table.ends.as<Index>());
  } else {
    sheet.columns = static_cast<const std::int32_t*>(o.table.columns.as<std::int32_t>());
    sheet.starts = static_cast<const std::int32_t*>(o.table.ends.as<std::int32_t>());
  }
  sheet.labels = o.table.labels.as<double>();
  sheet.first_column = 1;  // with an unknown base the reader stores columns less one
  return write_svmlight(sheet, 1)[0];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  Format format;
  format.labels = bytes[0] & 1 ? Labels::many : Labels::one;
  format.base = bytes[0] & 2 ? Base::one : bytes[0] & 4 ? Base::zero : Base::unknown;
  format.queries = bytes[0] & 8;
  std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const Outcome a = attempt(text.data(), text.size(), format, 1, 4096);
  if (a.read && bytes[0] & 64) {  // float32 only where every value is one, however late the first that is not
    const Outcome c = attempt(text.data(), text.size(), format, bytes[0] & 32 ? 3 : 1, 1024, Precision::exact);
    if (too_long(c)) return 0;
    require(c.read && c.table.entries == a.table.entries);
    for (Index k = 0; k < a.table.entries; ++k) {
      const double u = a.table.values.as<double>()[k];
      const double v = c.table.single ? c.table.values.as<float>()[k] : c.table.values.as<double>()[k];
      require(std::memcmp(&u, &v, 8) == 0 || (std::isnan(u) && std::isnan(v) && !c.table.single));
    }
  } else if (bytes[0] & 16) {  // cut into tiny pieces by several threads
    const Outcome b = attempt(text.data(), text.size(), format, bytes[0] & 32 ? 3 : 1, 48);
    if (too_long(b)) return 0;
    require(a.read == b.read && a.fault.line == b.fault.line && a.fault.column == b.fault.column);
    require(a.fault.found == b.fault.found && a.table.entries == b.table.entries && a.table.rows == b.table.rows);
    require(a.table.entries == 0 || std::memcmp(a.table.values.as<char>(), b.table.values.as<char>(),
                                                static_cast<std::size_t>(a.table.entries) * 8) == 0);
  } else if (a.read && format.labels == Labels::one && format.base == Base::unknown) {
    const std::string again = written(a);
    const Outcome b = attempt(again.data(), again.size(), Format{}, 1, 4096);
    require(b.read && b.table.rows == a.table.rows && b.table.entries == a.table.entries);
    for (Index k = 0; k < a.table.entries; ++k) {
      const double u = a.table.values.as<double>()[k], v = b.table.values.as<double>()[k];
      require(std::memcmp(&u, &v, 8) == 0 || (std::isnan(u) && std::isnan(v)));
    }
  }
  return 0;
}
