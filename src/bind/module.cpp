#include "base/errors.hpp"
#include "common.hpp"

NB_MODULE(_core, m) {
  using namespace dualgap;
  m.doc() = "dualgap's compiled core; use the package's own functions instead.";
  nanobind::exception<InvalidData>(m, "InvalidData", PyExc_ValueError);
  bind::bind_data(m);
  bind::bind_control(m);
  bind::bind_kernel(m);
  bind::bind_solvers(m);
  bind::bind_text(m);
  bind::bind_primal(m);
  bind::bind_pairs(m);
  bind::bind_pegasos(m);
  m.attr("compiler") = DUALGAP_COMPILER;
}
