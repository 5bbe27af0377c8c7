// What programs with resizing operators of their own call: <ATen/native/Resize.h> beside resize_output.
#pragma once

#include <aten/core/EmptyTensor.h>
#include <aten/core/Tensor.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/resize.h>
#include <c10/core/SymInt.h>
#include <csrc/compat/aten/native/ResizeCommon.h>

namespace at::native {

inline void resize_bytes_cpu(c10::StorageImpl* storage, size_t size_bytes) {
  resize_storage_bytes(storage, static_cast<int64_t>(size_bytes));
}
inline void resize_bytes_nocuda(const c10::Storage& storage, const c10::SymInt& size_bytes) {
  resize_storage_bytes(storage.unsafeGetStorageImpl(), size_bytes.guard_int(__FILE__, __LINE__));
}

/// Makes the storage at least `new_size_bytes` large; nothing for a tensor without elements.
TORCH_API void maybe_resize_storage_cpu(c10::TensorImpl* self, size_t new_size_bytes);

/// New sizes, and strides where they are given, else by rows; the storage grows unless told not to.
TORCH_API c10::TensorImpl* resize_impl_cpu_(
    c10::TensorImpl* self, IntArrayRef size, OptionalIntArrayRef stride, bool resize_storage = true);

/// Throws unless `storage` holds all elements of a tensor of that geometry.
TORCH_API void checkInBoundsForStorage(
    IntArrayRef size,
    IntArrayRef stride,
    int64_t storage_offset,
    const caffe2::TypeMeta& data_type,
    const c10::Storage& storage);

} // namespace at::native
