// torch:: factories: as the at:: ones, with TensorOptions::requires_grad honoured.
#pragma once

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/from_blob.h>
#include <autograd/TensorDataContainer.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <functional>
#include <initializer_list>
#include <vector>

namespace torch {

namespace detail {
/// Runs a factory below autograd, then makes its result a leaf that requires a gradient if asked.
template <class F>
at::Tensor as_variable(F&& make, bool requires_grad) {
  at::Tensor result = [&] {
    at::AutoDispatchBelowADInplaceOrView guard;
    return make();
  }();
  return requires_grad ? autograd::make_variable(std::move(result), true) : result;
}
} // namespace detail

/// A tensor from literals: `torch::tensor({{1, 2}, {3, 4}})`. Integers give int64, floating values the default dtype.
/// Throws when rows differ in length.
TORCH_API at::Tensor tensor(detail::TensorDataContainer data, const at::TensorOptions& options = {});

/// A tensor over memory of the caller's, which `deleter` is called with at the end.
template <class Deleter, std::enable_if_t<std::is_invocable_v<Deleter&, void*>, int> = 0>
at::Tensor from_blob(
    void* data,
    at::IntArrayRef sizes,
    at::IntArrayRef strides,
    Deleter&& deleter,
    const at::TensorOptions& options = {}) {
  return detail::as_variable(
      [&] {
        return at::from_blob(
            data, sizes, strides, std::function<void(void*)>(std::forward<Deleter>(deleter)),
            at::TensorOptions(options).requires_grad(std::nullopt));
      },
      options.requires_grad());
}
template <class Deleter, std::enable_if_t<std::is_invocable_v<Deleter&, void*>, int> = 0>
at::Tensor from_blob(void* data, at::IntArrayRef sizes, Deleter&& deleter, const at::TensorOptions& options = {}) {
  return detail::as_variable(
      [&] {
        return at::from_blob(
            data, sizes, std::function<void(void*)>(std::forward<Deleter>(deleter)),
            at::TensorOptions(options).requires_grad(std::nullopt));
      },
      options.requires_grad());
}
/// The same without ownership: the memory must outlive the tensor.
TORCH_API at::Tensor from_blob(
    void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options = {});
TORCH_API at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options = {});

#include <autograd/variable_factories.inc>

} // namespace torch
