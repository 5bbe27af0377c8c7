// The CUDA libraries of the emulated device: cuFFT, cuSOLVER, cuDNN's convolution, and cuBLAS' products and triangular
// solvers by the CPU's operators, on the memory and in the layouts that the real ones are told.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emulated {

/// A convolution that cuDNN has done.
struct DnnRun {
  int algorithm, math;
  bool channels_last;
};

/// Recurrent layers that cuDNN has run forward.
struct RnnRun {
  bool training;
  int mode;
};

/// A product that cuBLASLt has done.
struct LtRun {
  int epilogue;
  bool exact_sums;
};

/// What the next calls of a library do, and what they have done.
struct Libraries {
  bool missing = false; // no library can be opened
  bool jacobi_fails = false; // cusolverDn?gesvdj does not converge
  std::vector<std::string> looked_up; // functions, each at its first call
  int fft_plans = 0; // made so far
  std::vector<int> dnn_broken; // algorithms of cuDNN that fail when they run
  bool dnn_by_rows_alone = false; // cuDNN knows nothing of channels-last
  int dnn_rankings = 0, dnn_timings = 0; // how often cuDNN was asked for algorithms
  std::vector<DnnRun> dnn_runs;
  bool rnn_refused = false; // cuDNN takes no recurrent layers
  int rnn_math = -1; // that those were told of last
  std::vector<RnnRun> rnn_runs;
  int sparse_descriptors = 0; // of cuSPARSE, that are not destroyed yet
  int blas_products = 0; // of cuBLAS and cuBLASLt so far
  int blas_compute = 0; // what the last of them computed in
  bool lt_refuses = false; // cuBLASLt has no kernel for a product
  int lt_descriptors = 0; // of cuBLASLt, that are not destroyed yet
  std::vector<LtRun> lt_runs;
};
Libraries& libraries();

/// Work of cuBLAS on the stream of the handle, in its workspace.
void run_blas(cublasHandle_t handle, std::function<void()> work);
/// Work of another library, whose handles are always set to the current stream before they are used.
void run_on_current_stream(std::function<void()> work);
/// What a library leaves in a workspace: anything.
void scribble(void* workspace, std::size_t bytes);

/// A function of the emulated cuSPARSE (cusparse.cpp).
void* cusparse_function(const std::string& name);
/// A function of the emulated cuDNN (cudnn.cpp).
void* cudnn_function(const std::string& name);

} // namespace emulated
