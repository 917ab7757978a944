#include "simd/table.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dualgap::simd {

extern const Table table_baseline;
#if defined(DUALGAP_X86)
extern const Table table_avx2, table_avx512;
#endif

const Table* find(const char* name) {
#if defined(DUALGAP_X86)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && !std::strcmp(name, table_avx512.name))
    return &table_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !std::strcmp(name, table_avx2.name))
    return &table_avx2;
#endif
  if (!std::strcmp(name, table_baseline.name)) return &table_baseline;
  return nullptr;
}

namespace {

const Table& best() {
  for (const char* name : {"avx512", "avx2"})
    if (const Table* level = find(name)) return *level;
  return table_baseline;
}

}  // namespace

const Table& active() {
  static const Table& chosen = []() -> const Table& {
    const char* wanted = std::getenv("DUALGAP_SIMD");
    const Table* level = wanted ? find(wanted) : nullptr;
    return level ? *level : best();
  }();
  return chosen;
}

}  // namespace dualgap::simd
