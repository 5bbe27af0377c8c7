// C++ objects in tensors of bytes, as code did before there were custom classes (torch/custom_class.h), which new code
// takes.
#pragma once

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/core/TypeMeta.h>

#include <memory>

namespace at::cpp_custom_type_hack {

/// Whether a tensor was made by create<T>.
template <typename T>
[[deprecated("use a custom class: torch/custom_class.h")]] bool isa(const Tensor& packed) {
  return packed.scalar_type() == kByte &&
      packed.storage().data_ptr().get_deleter() == caffe2::TypeMeta::Make<T>().deleteFn();
}

/// The object in a tensor that create<T> made.
template <typename T>
[[deprecated("use a custom class: torch/custom_class.h")]] T& cast(const Tensor& packed) {
  TORCH_CHECK(
      packed.scalar_type() == kByte, "cpp_custom_type_hack::cast: expected a tensor of bytes that holds a ",
      caffe2::TypeMeta::TypeName<T>(), ", got dtype ", packed.scalar_type());
  TORCH_CHECK(
      packed.storage().data_ptr().get_deleter() == caffe2::TypeMeta::Make<T>().deleteFn(),
      "cpp_custom_type_hack::cast: the tensor does not hold a ", caffe2::TypeMeta::TypeName<T>());
  return *static_cast<T*>(packed.storage().data_ptr().get());
}

/// A tensor of bytes on the CPU that owns the object. T must be known to TypeMeta (CAFFE_KNOWN_TYPE).
template <typename T>
[[deprecated("use a custom class: torch/custom_class.h")]] Tensor create(
    std::unique_ptr<T> object, TensorOptions options) {
  const Tensor packed = at::empty({static_cast<int64_t>(sizeof(T))}, options.device(kCPU).dtype(kByte));
  T* const raw = object.release();
  packed.storage().set_data_ptr_noswap(DataPtr(raw, raw, caffe2::TypeMeta::Make<T>().deleteFn(), kCPU));
  return packed;
}

} // namespace at::cpp_custom_type_hack
