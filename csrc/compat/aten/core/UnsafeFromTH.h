// Tensors and storages from pointers to their implementations.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Storage.h>
#include <c10/core/UndefinedTensorImpl.h>

namespace at {

/// Shares the implementation if `retain`, else takes over the caller's reference.
inline Tensor unsafeTensorFromTH(void* pointer, bool retain) {
  auto* impl = static_cast<c10::TensorImpl*>(pointer);
  if (retain && impl != c10::UndefinedTensorImpl::singleton()) {
    c10::raw::intrusive_ptr::incref(impl);
  }
  return Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl));
}
inline c10::Storage unsafeStorageFromTH(void* pointer, bool retain) {
  auto* impl = static_cast<c10::StorageImpl*>(pointer);
  if (retain && impl != nullptr) {
    c10::raw::intrusive_ptr::incref(impl);
  }
  return c10::Storage(c10::intrusive_ptr<c10::StorageImpl>::reclaim(impl));
}

} // namespace at
