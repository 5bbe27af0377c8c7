// Stands for CUB's sorting and selecting, which cannot be emulated: the CPU's.
#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/from_blob.h>
#include <aten/native/cuda/sort.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace at::native::cuda {

namespace {

Tensor tensor_at(const void* data, IntArrayRef sizes, c10::ScalarType dtype) {
  return at::from_blob(const_cast<void*>(data), sizes, at::TensorOptions(dtype));
}

} // namespace

void launch_sort(const SortRows& p) {
  if (p.rows * p.size > INT32_MAX) {
    throw std::invalid_argument("CUB would refuse to sort as many elements");
  }
  const auto [values, indices] = at::sort(tensor_at(p.in, {p.rows, p.size}, p.dtype), /*stable=*/true, 1, p.descending);
  tensor_at(p.values, {p.rows, p.size}, p.dtype).copy_(values);
  tensor_at(p.indices, {p.rows, p.size}, at::kLong).copy_(indices + Scalar(p.first));
}

void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t) {
  std::iota(order, order + n, 0);
  std::stable_sort(order, order + n, [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
}

void launch_find_true(const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t) {
  *count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (flags[i] != 0) {
      positions[(*count)++] = i;
    }
  }
}

} // namespace at::native::cuda
