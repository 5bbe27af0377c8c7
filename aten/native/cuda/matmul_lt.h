// Matrix products with a bias and an activation, or with sums of an operand, in one kernel, through cuBLASLt.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// What is done beside a product. A bias, with one element for each row, is added to it before it is stored, and then
/// relu or gelu (the approximation by tanh) taken. Or op(a) is summed over each of its rows, or op(b) over each of its
/// columns, which are the gradients of a bias.
enum class Epilogue { kBias, kBiasRelu, kBiasGelu, kSumsOfA, kSumsOfB };

/// d (rows x columns) = alpha op(a) op(b) with an epilogue, all by columns.
struct ProductWithEpilogue {
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
  const void* bias; // or where the sums go
  Epilogue epilogue;
  void* d;
  std::int64_t leading_d;
};

/// False if the library has no kernel for it; then nothing has been done. On the current stream.
bool multiply_with_epilogue(const ProductWithEpilogue& p);

} // namespace at::native::cuda
