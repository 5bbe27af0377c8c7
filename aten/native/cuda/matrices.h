// Matrices in the order of cuBLAS and cuSOLVER: by columns, one after the other.
#pragma once

#include <aten/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// A copy of a batch of matrices by columns; with the batch sizes given if there are any.
Tensor copy_by_columns(const Tensor& t);
Tensor copy_by_columns(const Tensor& t, IntArrayRef batch);
/// Matrices without values, by columns.
Tensor empty_by_columns(IntArrayRef batch, int64_t rows, int64_t cols, const TensorOptions& options);
/// Sets matrices to the identity.
void set_identity(const Tensor& t);

IntArrayRef batch_sizes_of(const TensorBase& t, int64_t trailing = 2);

/// What a routine fills for a result: the result's own memory where that has the right order, else memory that store()
/// copies.
class ResultMemory {
 public:
  /// Matrices by columns.
  static ResultMemory by_columns(const TensorBase& result);
  /// Vectors, numbers: dense in the order of the dimensions.
  static ResultMemory by_rows(const TensorBase& result);

  const Tensor& memory() const {
    return memory_;
  }
  void store() const;

 private:
  ResultMemory(const TensorBase& result, Tensor memory) : result_(result), memory_(std::move(memory)) {}

  Tensor result_, memory_;
};

/// The matrices of a tensor that lies as above.
struct MatrixBatch {
  explicit MatrixBatch(const Tensor& t);

  int64_t rows, cols, leading, count;
  std::size_t bytes; // from one to the next

  char* operator[](int64_t i) const {
    return data_ + static_cast<std::size_t>(i) * bytes;
  }

 private:
  char* data_;
};

} // namespace at::native::cuda
