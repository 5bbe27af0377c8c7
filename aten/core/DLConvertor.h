// Tensors to and from DLPack, by which other libraries (NumPy, CuPy, JAX, TVM, ...) share their memory.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/dlpack.h>

#include <functional>
#include <optional>

namespace at {

/// The dtype for a DLPack type. Throws for types that tensors do not have, and for more than one lane.
TORCH_API ScalarType toScalarType(const DLDataType& dtype);
TORCH_API DLDataType getDLDataType(const Tensor& t);

/// A struct over the tensor's memory, which it keeps alive. Its receiver calls `deleter` once. Throws for tensors that
/// are not dense, are conjugated or negated views, or whose dtype or device DLPack does not know.
TORCH_API DLManagedTensor* toDLPack(const Tensor& src);
TORCH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src);
/// As above, marked DLPACK_FLAG_BITMASK_READ_ONLY.
TORCH_API DLManagedTensorVersioned* toDLPackVersionedReadOnly(const Tensor& src);
/// Fills in `out`, which is valid as long as the tensor and its shape are.
TORCH_API void toDLPackNonOwning(const Tensor& src, DLTensor* out, bool read_only = false);

/// A tensor over the struct's memory. The struct's deleter runs once when the last tensor over it is gone; with
/// `deleter`, that is called in its place, with `src`. If this throws, the struct is still the caller's. Everything is
/// checked but whether the memory is as large as the struct says. Memory that is marked read-only must not be written
/// to: there is no read-only tensor.
TORCH_API Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter = {});
TORCH_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter = {});

/// The device for a tensor on it; `device_id` is its index.
TORCH_API DLDevice getDLContext(const Tensor& tensor, const int64_t& device_id);
TORCH_API DLDevice torchDeviceToDLDevice(Device device);
TORCH_API Device dlDeviceToTorchDevice(DLDeviceType type, c10::DeviceIndex index, void* data = nullptr);

/// `data` on the device asked for, as `__dlpack__(dl_device, copy)` wants it: copy true always copies, false never and
/// throws if it had to, none only when the device differs.
TORCH_API Tensor
maybeCopyTensor(const Tensor& data, std::optional<DLDevice> optional_dl_device, std::optional<bool> copy);

/// What code needs that is generic in the two structs.
template <class T>
struct DLPackTraits {};
template <>
struct DLPackTraits<DLManagedTensor> {
  static constexpr const char* capsule = "dltensor";
  static constexpr const char* used = "used_dltensor";
  static constexpr auto toDLPack = at::toDLPack;
  static constexpr auto fromDLPack = at::fromDLPack;
};
template <>
struct DLPackTraits<DLManagedTensorVersioned> {
  static constexpr const char* capsule = "dltensor_versioned";
  static constexpr const char* used = "used_dltensor_versioned";
  static constexpr auto toDLPack = at::toDLPackVersioned;
  static constexpr auto fromDLPack = at::fromDLPackVersioned;
};

} // namespace at
