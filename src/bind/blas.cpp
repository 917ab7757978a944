// SciPy's BLAS and LAPACK: the pointers that scipy.linalg.cython_blas and cython_lapack publish as capsules.
#include "blas.hpp"

#include <nanobind/nanobind.h>

namespace dualgap::bind {

namespace nb = nanobind;

namespace {

template <class F>
void load(const nb::dict& functions, const char* name, F& pointer) {
  const nb::object capsule = functions[name];
  pointer = reinterpret_cast<F>(PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr())));
  if (!pointer) throw nb::python_error();
}

Blas load_all() {
  const nb::dict blas = nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
  const nb::dict lapack = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  Blas b;
  load(blas, "dgemm", b.dgemm);
  load(blas, "sgemm", b.sgemm);
  load(blas, "dsyrk", b.dsyrk);
  load(blas, "dtrsm", b.dtrsm);
  load(blas, "dsymv", b.dsymv);
  load(lapack, "dpotrf", b.dpotrf);
  load(lapack, "dpotrs", b.dpotrs);
  return b;
}

}  // namespace

const Blas& scipy_blas() {
  static const Blas blas = load_all();
  return blas;
}

}  // namespace dualgap::bind
