#include <csrc/compat/aten/native/resize_impl.h>

namespace at::native {

void maybe_resize_storage_cpu(c10::TensorImpl* self, size_t new_size_bytes) {
  if (self->numel() != 0 && new_size_bytes > self->unsafe_storage().nbytes()) {
    resize_bytes_cpu(self->unsafe_storage().unsafeGetStorageImpl(), new_size_bytes);
  }
}

c10::TensorImpl* resize_impl_cpu_(
    c10::TensorImpl* self, IntArrayRef size, OptionalIntArrayRef stride, bool resize_storage) {
  if (self->sizes() == size && (!stride.has_value() || self->strides() == stride.value())) {
    return self;
  }
  at::detail::check_size_nonnegative(size);
  const auto offset = static_cast<size_t>(self->storage_offset());
  const size_t bytes = stride.has_value() ? at::detail::computeStorageNbytes(size, *stride, self->itemsize(), offset)
                                          : at::detail::computeStorageNbytesContiguous(size, self->itemsize(), offset);
  // First what can fail.
  if (resize_storage && bytes > self->unsafe_storage().nbytes()) {
    resize_bytes_cpu(self->unsafe_storage().unsafeGetStorageImpl(), bytes);
  }
  if (stride.has_value()) {
    self->set_sizes_and_strides(size, *stride);
  } else {
    self->set_sizes_contiguous(size);
  }
  return self;
}

void checkInBoundsForStorage(
    IntArrayRef size,
    IntArrayRef stride,
    int64_t storage_offset,
    const caffe2::TypeMeta& data_type,
    const c10::Storage& storage) {
  const size_t spanned = at::detail::computeStorageNbytes(size, stride, data_type.itemsize());
  if (spanned == 0) {
    return;
  }
  TORCH_CHECK(storage_offset >= 0, "Tensor: invalid storage offset ", storage_offset);
  const size_t needed =
      at::detail::computeStorageNbytes(size, stride, data_type.itemsize(), static_cast<size_t>(storage_offset));
  TORCH_CHECK(
      needed <= storage.nbytes(), "setStorage: sizes ", size, ", strides ", stride, ", storage offset ", storage_offset,
      ", and itemsize ", data_type.itemsize(), " requiring a storage size of ", needed,
      " are out of bounds for storage of size ", storage.nbytes());
}

} // namespace at::native
