#define LEVEL avx512
#define WIDTH 8
#include "simd/ops.inl"
