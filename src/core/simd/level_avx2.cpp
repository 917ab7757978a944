#define LEVEL avx2
#define WIDTH 4
#include "simd/ops.inl"
