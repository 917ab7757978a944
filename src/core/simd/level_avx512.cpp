#define LEVEL avx512
#define NOGATHER avx512_nogather
#define WIDTH 8
#include "simd/ops.inl"
