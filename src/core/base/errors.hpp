// What can be wrong with the input. Each carries one sentence for the user; the binding maps them to Python's types.
#pragma once

#include <stdexcept>

namespace dualgap {

struct InvalidData : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace dualgap
