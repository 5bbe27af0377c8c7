// Makes tensors in plain C++ over raw memory, without operators of the library under test.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <string>
#include <vector>

#include "test/fuzz/random.h"

namespace fuzz {

using Shape = std::vector<int64_t>;

enum class Values : uint8_t {
  Small, // -3 ... 3, whole or not
  Unit, // 0 ... 1
  Index, // 0 ... 3
  Any, // whole numbers -9 ... 9
  Extreme, // NaN, infinities, limits of the type, -0, subnormal numbers, mixed with small ones
};

/// How elements lie in their storage.
enum class Placing : uint8_t { Contiguous, Offset, Reversed, Stepped, Padded, ChannelsLast, Expanded, Overlapping };

/// A CPU tensor of any dtype that has a size in memory.
at::Tensor make_tensor(c10::ScalarType dtype, const Shape& sizes, Placing placing, Values values, Random& random);

/// The same elements in a storage of their own, placed otherwise (not Expanded or Overlapping, which cannot hold them).
/// Undefined tensors, and those that are not plain CPU ones, are returned as they are.
at::Tensor placed(const at::Tensor& tensor, Placing placing);

/// Elements converted to another dtype, contiguous.
at::Tensor converted(const at::Tensor& tensor, c10::ScalarType dtype);

/// A tensor of these sizes, strides (both of the same length) and offset over a storage, on the device of that.
at::Tensor view_of(
    const c10::Storage& storage, c10::ScalarType dtype, const Shape& sizes, const Shape& strides, int64_t offset);
/// Other sizes, strides and offset over the storage of `tensor`.
at::Tensor view_of(const at::Tensor& tensor, const Shape& sizes, const Shape& strides, int64_t offset);

/// A tensor without data of the same sizes, strides and dtype.
at::Tensor on_meta(const at::Tensor& tensor);

/// Elements of this dtype are bools or numbers that test/support can read.
bool has_elements_to_read(c10::ScalarType dtype);
/// Defined, strided, on the CPU, with memory for all its elements.
bool is_plain(const at::Tensor& tensor);
bool shares_storage(const at::Tensor& a, const at::Tensor& b);

/// Element positions that sizes, strides and offset reach at most, or -1 if that overflows.
int64_t extent(c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t offset);

/// "float32 [2, 3] strides [3, 1] offset 0: 1 2 3 4 5 6".
std::string describe(const at::Tensor& tensor);

} // namespace fuzz
