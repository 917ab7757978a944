#define LEVEL baseline
#define WIDTH 2
#include "simd/ops.inl"
