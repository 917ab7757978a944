#pragma once

#include "base/blas.hpp"

namespace dualgap::bind {

/// SciPy's routines; loaded when first asked for, with the interpreter's lock held.
const Blas& scipy_blas();

}  // namespace dualgap::bind
