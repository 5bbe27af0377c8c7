// What kernels of devices do with whole lists of tensors, as plain data.
#pragma once

#include <cstdint>

namespace at::native {

/// Functions of elements for which a device has kernels that take whole lists. x is of the first list, y and z of the
/// second and third, n the number.
enum class ForeachFunction : std::uint8_t {
  AddScalar, // x + n
  AddTensor, // x + n y
  SubScalar, // x - n
  SubTensor, // x - n y
  MulScalar, // x n
  MulTensor, // x y
  MulByOne, // x times the one element of y
  DivScalar, // x / n
  DivTensor, // x / y
  Addcmul, // x + n y z
  Addcdiv, // x + n y / z
  LerpScalar, // between x and y
  LerpTensor, // between x and y, by z
  Neg,
  Abs,
  Sqrt,
  Reciprocal,
  Zero,
  Copy, // y
};

/// One tensor of the lists: dense memory, the same indices in all of it.
struct ForeachPart {
  void* out;
  const void* in[3];
  std::int64_t numel;
  double number;
};

/// Norms of whole lists: the sum of absolute values, the root of the sum of squares, the largest absolute value.
enum class ForeachNorm : std::uint8_t { One, Two, Infinity };

} // namespace at::native
