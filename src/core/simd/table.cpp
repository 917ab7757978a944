#include "simd/table.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dualgap::simd {

extern const Table table_baseline;
#if defined(DUALGAP_X86)
extern const Table table_avx2;
extern const Table table_avx512;
#endif

const Table* find(const char* name) {
#if defined(DUALGAP_X86)
  __builtin_cpu_init();
  if (!std::strcmp(name, "avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return &table_avx512;
  if (!std::strcmp(name, "avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &table_avx2;
#endif
  if (!std::strcmp(name, "baseline")) return &table_baseline;
  return nullptr;
}

const Table& active() {
  static const Table& chosen = []() -> const Table& {
    if (const char* wanted = std::getenv("DUALGAP_SIMD"))
      if (const Table* level = find(wanted)) return *level;
    for (const char* name : {"avx512", "avx2"})
      if (const Table* level = find(name)) return *level;
    return table_baseline;
  }();
  return chosen;
}

}  // namespace dualgap::simd
