#include <aten/native/cuda/matrices.h>

#include <aten/Functions.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace at::native::cuda {

IntArrayRef batch_sizes_of(const TensorBase& t, int64_t trailing) {
  return t.sizes().slice(0, t.dim() - trailing);
}

Tensor empty_by_columns(IntArrayRef batch, int64_t rows, int64_t cols, const TensorOptions& options) {
  c10::DimVector sizes(batch.begin(), batch.end());
  sizes.push_back(cols);
  sizes.push_back(rows);
  return at::empty(sizes, options).transpose(-2, -1);
}

Tensor copy_by_columns(const Tensor& t, IntArrayRef batch) {
  Tensor copy = empty_by_columns(batch, t.size(-2), t.size(-1), t.options());
  copy.copy_(t);
  return copy;
}

Tensor copy_by_columns(const Tensor& t) {
  return copy_by_columns(t, batch_sizes_of(t));
}

void set_identity(const Tensor& t) {
  Tensor(t).zero_();
  t.diagonal(0, -2, -1).fill_(1);
}

ResultMemory ResultMemory::by_columns(const TensorBase& result) {
  const Tensor t(result);
  return {
      result,
      t.transpose(-2, -1).is_contiguous() ? t
                                          : empty_by_columns(batch_sizes_of(t), t.size(-2), t.size(-1), t.options())};
}

ResultMemory ResultMemory::by_rows(const TensorBase& result) {
  return {result, result.is_contiguous() ? Tensor(result) : at::empty(result.sizes(), result.options())};
}

void ResultMemory::store() const {
  if (!memory_.is_same(result_)) {
    Tensor(result_).copy_(memory_);
  }
}

MatrixBatch::MatrixBatch(const Tensor& t)
    : rows(t.size(-2)),
      cols(t.size(-1)),
      leading(std::max<int64_t>(rows, 1)),
      count(1),
      bytes(static_cast<std::size_t>(rows * cols) * t.itemsize()),
      data_(static_cast<char*>(t.mutable_data_ptr())) {
  for (const int64_t size : batch_sizes_of(t)) {
    count *= size;
  }
}

} // namespace at::native::cuda
