// Math functions for templated device code: the right overload for float and double, without a call to the std::
// versions.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>

namespace c10::cuda::compat {

#define C10_CUDA_COMPAT_UNARY(name)              \
  inline C10_HOST_DEVICE float name(float x) {   \
    return ::name##f(x);                         \
  }                                              \
  inline C10_HOST_DEVICE double name(double x) { \
    return ::name(x);                            \
  }
#define C10_CUDA_COMPAT_BINARY(name, function)             \
  inline C10_HOST_DEVICE float name(float x, float y) {    \
    return ::function##f(x, y);                            \
  }                                                        \
  inline C10_HOST_DEVICE double name(double x, double y) { \
    return ::function(x, y);                               \
  }

inline C10_HOST_DEVICE float abs(float x) {
  return ::fabsf(x);
}
inline C10_HOST_DEVICE double abs(double x) {
  return ::fabs(x);
}
C10_CUDA_COMPAT_UNARY(exp)
C10_CUDA_COMPAT_UNARY(ceil)
C10_CUDA_COMPAT_UNARY(floor)
C10_CUDA_COMPAT_UNARY(log)
C10_CUDA_COMPAT_UNARY(log1p)
C10_CUDA_COMPAT_UNARY(sqrt)
C10_CUDA_COMPAT_UNARY(sin)
C10_CUDA_COMPAT_UNARY(cos)
C10_CUDA_COMPAT_UNARY(tan)
C10_CUDA_COMPAT_UNARY(tanh)
C10_CUDA_COMPAT_BINARY(copysign, copysign)
C10_CUDA_COMPAT_BINARY(max, fmax)
C10_CUDA_COMPAT_BINARY(min, fmin)
C10_CUDA_COMPAT_BINARY(pow, pow)

#undef C10_CUDA_COMPAT_UNARY
#undef C10_CUDA_COMPAT_BINARY

inline C10_HOST_DEVICE float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  return ::rsqrtf(x);
#else
  return 1.0f / ::sqrtf(x);
#endif
}
inline C10_HOST_DEVICE double rsqrt(double x) {
#if defined(__CUDA_ARCH__)
  return ::rsqrt(x);
#else
  return 1.0 / ::sqrt(x);
#endif
}
inline C10_HOST_DEVICE void sincos(float x, float* s, float* c) {
  ::sincosf(x, s, c);
}
inline C10_HOST_DEVICE void sincos(double x, double* s, double* c) {
  ::sincos(x, s, c);
}
#if defined(__CUDACC__)
inline C10_DEVICE float normcdf(float x) {
  return ::normcdff(x);
}
inline C10_DEVICE double normcdf(double x) {
  return ::normcdf(x);
}
#endif

} // namespace c10::cuda::compat
