// Operators over lists of tensors (_foreach_*): what the generated loops need.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/support/foreach_function.h>
#include <c10/util/FunctionRef.h>

#include <initializer_list>
#include <vector>

namespace at::native {

/// The common length of the lists of tensors, and of those of numbers beside them. Throws where lengths differ.
inline size_t foreach_count(std::initializer_list<size_t> tensors, std::initializer_list<size_t> scalars) {
  const size_t count = *tensors.begin();
  TORCH_CHECK(count > 0, "Tensor list must have at least one tensor.");
  for (const size_t size : tensors) {
    TORCH_CHECK(size == count, "Tensor lists must have the same number of tensors, got ", count, " and ", size);
  }
  for (const size_t size : scalars) {
    TORCH_CHECK(
        size == count, "Tensor list must have same number of elements as scalar list. Got ", count, " and ", size);
  }
  return count;
}

/// Calls `run` for each element of the list `self`, which it changes in place, beside lists of tensors and of numbers.
/// If one is refused, those before get back what they held.
void foreach_in_place(
    TensorList self,
    std::initializer_list<TensorList> others,
    std::initializer_list<ArrayRef<Scalar>> numbers,
    c10::function_ref<void(size_t)> run);

/// The numbers of a function: none, one for all, one for each, or the one element of a tensor.
struct ForeachNumbers {
  ForeachNumbers() = default;
  ForeachNumbers(const Scalar& one) : list(one) {}
  ForeachNumbers(ArrayRef<Scalar> each) : list(each) {}
  ForeachNumbers(const Tensor& one) : tensor(&one) {}

  ArrayRef<Scalar> list;
  const Tensor* tensor = nullptr;
};

/// All tensors at once, where their device can and nothing about them is unusual: on CUDA, of one floating dtype, dense
/// in the same order, not recorded. With `results` they are new tensors, else the first list is changed. False: nothing
/// has happened.
bool multi_tensor_foreach(
    ForeachFunction function,
    std::initializer_list<TensorList> lists,
    const ForeachNumbers& numbers,
    std::vector<Tensor>* results);

/// Set by the plugin of a device: run parts of a floating dtype on the device of `lead`, its current stream. Norms go
/// to `out`, one element each.
struct DeviceForeach {
  void (*function)(ForeachFunction, const Tensor& lead, ArrayRef<ForeachPart>) = nullptr;
  void (*norm)(ForeachNorm, const Tensor& lead, ArrayRef<ForeachPart>) = nullptr;
};
TORCH_API DeviceForeach& cuda_foreach();

/// `number` itself, which must be a tensor of no dimensions.
inline const Tensor& zero_dim(const Tensor& number) {
  TORCH_CHECK(
      number.dim() == 0, "scalar tensor expected to be 0 dim but it has ", number.dim(), " dimensions and ",
      number.numel(), " elements.");
  return number;
}

/// Number `i` of a vector that holds one for each of `count` tensors.
inline Scalar packed_scalar(const Tensor& scalars, size_t i, size_t count) {
  TORCH_CHECK(scalars.is_cpu(), "Expected scalars to be on CPU, got ", scalars.device(), " instead.");
  TORCH_CHECK(
      scalars.dim() == 1, "Expected packed scalar Tensor to be of dimension 1. Got ", scalars.dim(), " instead.");
  TORCH_CHECK(
      scalars.size(0) == static_cast<int64_t>(count), "Expected length of scalars to match input of length ", count,
      " but got ", scalars.size(0), " instead.");
  return scalars.select(0, static_cast<int64_t>(i)).item();
}

} // namespace at::native
