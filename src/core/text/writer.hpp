// Rows to svmlight text: the fewest digits that read back as the same number.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/types.hpp"

namespace dualgap::text {

/// Rows [0, rows) of a CSR matrix with what stands before the features.
struct Sheet {
  Index rows = 0;
  std::variant<const double*, const float*> values;
  std::variant<const std::int32_t*, const Index*> columns, starts;
  const double* labels = nullptr;
  const Index* label_starts = nullptr;  // nullptr: one label a row
  const Index* queries = nullptr;       // nullptr: none
  Index first_column = 0;               // what column 0 is called
};

/// The sheet as text, in as many parts as there are threads, in order.
std::vector<std::string> write_svmlight(const Sheet& sheet, int threads);

}  // namespace dualgap::text
