// Stands for CUB's sorting and selecting, which cannot be emulated: the CPU's.
#include "test/cuda/emulated/submit.h"

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/from_blob.h>
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

void launch_sort(const SortRows& rows) {
  if (rows.rows * rows.size > INT32_MAX) {
    throw std::invalid_argument("CUB would refuse to sort as many elements");
  }
  emulator::submit(rows.stream, [p = rows] {
    const auto [values, indices] =
        at::sort(tensor_at(p.in, {p.rows, p.size}, p.dtype), /*stable=*/true, 1, p.descending);
    tensor_at(p.values, {p.rows, p.size}, p.dtype).copy_(values);
    tensor_at(p.indices, {p.rows, p.size}, at::kLong).copy_(indices + Scalar(p.first));
  });
}

void launch_sort_pairs(const SortPairs& pairs) {
  emulator::submit(pairs.stream, [p = pairs] {
    const Tensor keys = tensor_at(p.keys_in, {p.n}, p.dtype);
    Tensor by = keys;
    if (const int bits = p.end_bit - p.begin_bit; bits < 8 * static_cast<int>(c10::elementSize(p.dtype))) {
      by = keys.to(at::kLong)
               .bitwise_right_shift(Scalar(p.begin_bit))
               .bitwise_and(Scalar((std::int64_t{1} << bits) - 1));
    }
    const Tensor order = std::get<1>(at::sort(by, /*stable=*/true, 0, p.descending));
    if (p.keys_out != nullptr) {
      tensor_at(p.keys_out, {p.n}, p.dtype).copy_(keys.index_select(0, order));
    }
    if (p.value_size != 0) {
      const Tensor values = tensor_at(p.values_in, {p.n, p.value_size}, at::kByte);
      tensor_at(p.values_out, {p.n, p.value_size}, at::kByte).copy_(values.index_select(0, order));
    }
  });
}

void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t stream) {
  emulator::submit(stream, [=] {
    std::iota(order, order + n, 0);
    std::stable_sort(order, order + n, [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
    std::fill(keys, keys + n, ~std::uint64_t{0}); // the real one overwrites them
  });
}

void launch_find_true(
    const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t stream) {
  emulator::submit(stream, [=] {
    *count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (flags[i] != 0) {
        positions[(*count)++] = i;
      }
    }
  });
}

} // namespace at::native::cuda
