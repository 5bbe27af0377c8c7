// Matrix products with a bias and an activation in one kernel, through cuBLASLt.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// What is done to each element of a product before it is stored. Gelu is the approximation by tanh.
enum class Activation { kNone, kRelu, kGelu };

/// d (rows x columns) = activation(alpha op(a) op(b) + bias), all by columns; bias has one element for each row of d.
struct BiasedProduct {
  cudaDataType_t dtype;
  cublasComputeType_t compute;
  bool exact_sums; // partial sums are kept in the type that is computed in
  cublasOperation_t operation_a, operation_b;
  std::int64_t rows, columns, inner;
  double alpha;
  const void* a;
  std::int64_t leading_a;
  const void* b;
  std::int64_t leading_b;
  const void* bias;
  Activation activation;
  void* d;
  std::int64_t leading_d;
};

/// False if the library has no kernel for it; then nothing has been done. On the current stream.
bool multiply_with_bias(const BiasedProduct& p);

} // namespace at::native::cuda
