// SciPy's BLAS and LAPACK: the pointers that scipy.linalg.cython_blas and cython_lapack publish as capsules.
#include "blas.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>

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
  const nb::object published = nb::module_::import_("dualgap.blas").attr("published");
  const auto blas = nb::cast<nb::dict>(published("cython_blas"));
  const auto lapack = nb::cast<nb::dict>(published("cython_lapack"));
  Blas b;
  load(blas, "dgemm", b.dgemm);
  load(blas, "sgemm", b.sgemm);
  load(blas, "dsyrk", b.dsyrk);
  load(blas, "dtrsm", b.dtrsm);
  load(blas, "dtrsv", b.dtrsv);
  load(blas, "dsymv", b.dsymv);
  load(lapack, "dpotrf", b.dpotrf);
  load(lapack, "dpotrs", b.dpotrs);
  load(lapack, "dgetrf", b.dgetrf);
  load(lapack, "dgetrs", b.dgetrs);
  return b;
}

}  // namespace

// Loading runs Python, which may let another thread in here: a static's own lock would then wait for the interpreter's
// and the interpreter's for it. So threads that come at the same time all load, and the first one's table is kept.
const Blas& scipy_blas() {
  static std::atomic<const Blas*> known{nullptr};
  if (const Blas* blas = known.load(std::memory_order_acquire)) return *blas;
  auto fresh = std::make_unique<const Blas>(load_all());
  const Blas* first = nullptr;
  if (known.compare_exchange_strong(first, fresh.get())) first = fresh.release();  // for the life of the process
  return *first;
}

}  // namespace dualgap::bind
