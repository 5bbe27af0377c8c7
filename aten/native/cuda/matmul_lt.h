// Matrix products with a bias in one kernel, through cuBLASLt.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// d (rows x columns) = op(a) op(b) + bias, all by columns; bias has one element for each row of d.
struct BiasedProduct {
  cudaDataType_t dtype;
  cublasComputeType_t compute;
  cublasOperation_t operation_a, operation_b;
  std::int64_t rows, columns, inner;
  const void* a;
  std::int64_t leading_a;
  const void* b;
  std::int64_t leading_b;
  const void* bias;
  void* d;
  std::int64_t leading_d;
};

/// False if the library has no kernel for it; then nothing has been done. On the current stream.
bool multiply_with_bias(const BiasedProduct& p);

} // namespace at::native::cuda
