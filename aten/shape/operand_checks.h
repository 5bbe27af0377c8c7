// Checks that several families of shape functions share.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>

#include <cstdint>
#include <initializer_list>

namespace at::shape {

/// Throws unless all tensors are on the device of the first.
void check_same_device(const char* op, std::initializer_list<const TensorBase*> tensors);

/// Throws unless `self` can be expanded to `sizes`.
void check_expandable(const char* op, const TensorBase& self, IntArrayRef sizes);

/// Throws unless `out` has the dtype of `self`.
void check_out_dtype(const char* op, const TensorBase& self, const TensorBase& out);

/// Throws where a kernel does not take the dtype of `self`. Nothing is compared in an empty or 0-dim tensor, so any
/// dtype will do.
template <std::uint64_t Bits>
void require_compared_dtype(const char* kernel, const TensorBase& self, DtypeSet<Bits>) {
  if (self.dim() > 0 && self.numel() > 0 && !DtypeSet<Bits>::contains(self.scalar_type())) {
    at::detail::dtype_not_supported(kernel, self.scalar_type(), Bits);
  }
}

[[noreturn]] void dtype_not_supported_on_device(const char* kernel, const TensorBase& self, std::uint64_t supported);

/// The same for kernels that go by the name of their device: "topk" is "topk_cpu" or "topk_cuda".
template <std::uint64_t Bits>
void require_compared_dtype_on_device(const char* kernel, const TensorBase& self, DtypeSet<Bits>) {
  if (self.dim() > 0 && self.numel() > 0 && !DtypeSet<Bits>::contains(self.scalar_type())) {
    dtype_not_supported_on_device(kernel, self, Bits);
  }
}

} // namespace at::shape
