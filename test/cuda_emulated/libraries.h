// The CUDA libraries of the emulated device: cuFFT, cuSOLVER and the triangular solvers of cuBLAS by the CPU's operators, on the
// memory and in the layouts that the real ones are told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emulated {

/// What the next calls of a library do, and what they have done.
struct Libraries {
  bool missing = false;              // no library can be opened
  bool jacobi_fails = false;         // cusolverDn?gesvdj does not converge
  std::vector<std::string> looked_up; // functions, each at its first call
  int fft_plans = 0;                 // made so far
};
Libraries& libraries();

} // namespace emulated
