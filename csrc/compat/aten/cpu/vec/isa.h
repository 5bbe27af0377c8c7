// How wide a Vectorized is, and the namespace of what is compiled for it.
//
// Note [Lanes and compile flags]
// Programs compile these headers with flags of their own, and may compile some files for AVX-512 and others for plain
// x86-64. Each choice has an inline namespace, so that the linker never takes an inline function of one file for
// another's.
#pragma once

#if defined(CPU_CAPABILITY_AVX512) || (defined(__AVX512F__) && !defined(CPU_CAPABILITY_AVX2))
#define VECTOR_WIDTH 64
#else
#define VECTOR_WIDTH 32
#endif
#define __at_align__ __attribute__((aligned(VECTOR_WIDTH)))

#if defined(__AVX512F__)
#define AT_VEC_ISA isa_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define AT_VEC_ISA isa_avx2_fma
#elif defined(__AVX2__)
#define AT_VEC_ISA isa_avx2
#elif defined(__AVX__)
#define AT_VEC_ISA isa_avx
#else
#define AT_VEC_ISA isa_base
#endif
