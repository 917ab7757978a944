#define LEVEL avx2
#define NOGATHER avx2_nogather
#define WIDTH 4
#include "simd/ops.inl"
