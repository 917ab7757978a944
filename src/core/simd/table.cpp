#include "simd/table.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dualgap::simd {

extern const Table table_baseline;
#if defined(DUALGAP_X86)
extern const Table table_avx2, table_avx2_nogather;
extern const Table table_avx512, table_avx512_nogather;
#endif

const Table* find(const char* name) {
#if defined(DUALGAP_X86)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    for (const Table* level : {&table_avx512, &table_avx512_nogather})
      if (!std::strcmp(name, level->name)) return level;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    for (const Table* level : {&table_avx2, &table_avx2_nogather})
      if (!std::strcmp(name, level->name)) return level;
#endif
  if (!std::strcmp(name, table_baseline.name)) return &table_baseline;
  return nullptr;
}

namespace {

const Table& best() {
#if defined(DUALGAP_X86)
  __builtin_cpu_init();
  const bool gathers = !__builtin_cpu_is("amd");  // there they are microcode
  for (const char* name : {gathers ? "avx512" : "avx512-nogather", gathers ? "avx2" : "avx2-nogather"})
    if (const Table* level = find(name)) return *level;
#endif
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
