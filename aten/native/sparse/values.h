// What generated wrappers of sparse kernels are made of.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Layout.h>
#include <c10/util/FunctionRef.h>

namespace at::native {

/// Whether f(a + b) = f(a) + f(b), so that values of a place that is there twice may be mapped one by one.
enum class ValuesMap : uint8_t { Values, Linear };

/// A sparse tensor, of any layout, with the places of `self` and its values mapped.
TORCH_API Tensor
map_values(const char* op, const Tensor& self, ValuesMap kind, c10::function_ref<Tensor(const Tensor&)> map);
TORCH_API Tensor& map_values_in_place(
    const char* op, Tensor& self, ValuesMap kind, c10::function_ref<Tensor&(Tensor&)> map);
TORCH_API Tensor& map_values_out(
    const char* op, const Tensor& self, Tensor& out, ValuesMap kind, c10::function_ref<Tensor(const Tensor&)> map);

/// Makes the caller's tensor hold `result`, a fresh tensor. A sparse target takes over its places and values, in its
/// own dtype; a strided one is copied to. Throws when the layouts differ or the dtype cannot be cast.
TORCH_API void write_sparse(const char* op, Tensor& target, const Tensor& result);

/// For operators that would take a sparse tensor for a strided one.
[[noreturn]] TORCH_API void refuse_sparse(const char* op, const Tensor& self);

} // namespace at::native
