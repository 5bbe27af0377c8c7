// Autocast: while it is on, operators run in the precision that suits them. Products and convolutions cast their inputs
// to a lower precision, operators that need range cast them to float32, the others take what they are given. Which does
// what stands in aten/autocast/autocast_rules.cpp; docs/mixed-precision.md tells how to use it.
#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/Tensor.h>
#include <aten/core/stack.h>
#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/Deprecated.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace c10 {
class OperatorHandle;
} // namespace c10

namespace at::autocast {

// Note [Autocast]
// Autocast is a functionality of its own: each tensor has the Autocast key of its device among its keys, and a thread
// excludes them by default. Turning it on takes the key out of the thread's excluded set, so while it is off calls do
// not know of it. Its kernels come before those of autograd: the casts are recorded, gradients come back in the dtype
// that the caller's tensors have, and what operators save for the backward pass is in the lower precision.

// --- state; all of it belongs to the calling thread
// ----------------------------------------------------------------------

/// Whether the device type has autocast: CPU, CUDA, MTIA, MAIA, XPU, IPU, HPU, XLA, PrivateUse1, MPS.
TORCH_API bool is_autocast_available(c10::DeviceType device_type);
/// Throws for device types without autocast.
TORCH_API bool is_autocast_enabled(c10::DeviceType device_type);
TORCH_API void set_autocast_enabled(c10::DeviceType device_type, bool enabled);
/// The lower precision. At first bfloat16 on CPU, MAIA, XLA and HPU, and half elsewhere.
TORCH_API c10::ScalarType get_autocast_dtype(c10::DeviceType device_type);
/// Throws unless `dtype` is a floating point type and the device type has autocast.
TORCH_API void set_autocast_dtype(c10::DeviceType device_type, c10::ScalarType dtype);
/// get_autocast_dtype(), but throws for device types without autocast.
TORCH_API c10::ScalarType get_lower_precision_fp_from_device_type(c10::DeviceType device_type);
/// The key of the device type's autocast kernels. Throws for device types without autocast.
TORCH_API c10::DispatchKey get_autocast_dispatch_key_from_device_type(c10::DeviceType device_type);

/// How many regions the thread is in; they return the new number. Whoever leaves the outermost one clears the cache.
TORCH_API int increment_nesting();
TORCH_API int decrement_nesting();

/// Forgets the casts of weights; see cached_cast.
TORCH_API void clear_cache();
TORCH_API bool is_autocast_cache_enabled();
TORCH_API void set_autocast_cache_enabled(bool enabled);

inline constexpr std::array<c10::DeviceType, 10> _AUTOCAST_SUPPORTED_DEVICES{
    c10::kCPU, c10::kCUDA, c10::kMTIA, c10::kMAIA,        c10::kXPU,
    c10::kIPU, c10::kHPU,  c10::kXLA,  c10::kPrivateUse1, c10::kMPS};

// The same by older names.
#define TORCH_AUTOCAST_BY_DEVICE_(is_enabled, set_enabled, get_dtype, set_dtype, device_type) \
  C10_DEPRECATED_MESSAGE("use at::autocast::is_autocast_enabled(" #device_type ")")           \
  inline bool is_enabled() {                                                                  \
    return is_autocast_enabled(device_type);                                                  \
  }                                                                                           \
  C10_DEPRECATED_MESSAGE("use at::autocast::set_autocast_enabled(" #device_type ", enabled)") \
  inline void set_enabled(bool enabled) {                                                     \
    set_autocast_enabled(device_type, enabled);                                               \
  }                                                                                           \
  C10_DEPRECATED_MESSAGE("use at::autocast::get_autocast_dtype(" #device_type ")")            \
  inline c10::ScalarType get_dtype() {                                                        \
    return get_autocast_dtype(device_type);                                                   \
  }                                                                                           \
  C10_DEPRECATED_MESSAGE("use at::autocast::set_autocast_dtype(" #device_type ", dtype)")     \
  inline void set_dtype(c10::ScalarType dtype) {                                              \
    set_autocast_dtype(device_type, dtype);                                                   \
  }
#define TORCH_AUTOCAST_BY_NAME_(name, device_type)                                                         \
  TORCH_AUTOCAST_BY_DEVICE_(                                                                               \
      is_##name##_enabled, set_##name##_enabled, get_autocast_##name##_dtype, set_autocast_##name##_dtype, \
      device_type)
TORCH_AUTOCAST_BY_DEVICE_(is_enabled, set_enabled, get_autocast_gpu_dtype, set_autocast_gpu_dtype, c10::kCUDA)
TORCH_AUTOCAST_BY_NAME_(cpu, c10::kCPU)
TORCH_AUTOCAST_BY_NAME_(mtia, c10::kMTIA)
TORCH_AUTOCAST_BY_NAME_(xpu, c10::kXPU)
TORCH_AUTOCAST_BY_NAME_(xla, c10::kXLA)
TORCH_AUTOCAST_BY_NAME_(hpu, c10::kHPU)
TORCH_AUTOCAST_BY_NAME_(ipu, c10::kIPU)
TORCH_AUTOCAST_BY_NAME_(privateuseone, c10::kPrivateUse1)
#undef TORCH_AUTOCAST_BY_NAME_
#undef TORCH_AUTOCAST_BY_DEVICE_

// --- casts; what a kernel for an autocast key is made of
// -----------------------------------------------------------------

/// Whether autocast casts the tensor: a floating point tensor of the device type, and not a double one.
TORCH_API bool is_eligible(const Tensor& arg, c10::DeviceType device_type = c10::kCUDA);

/// `arg` as `to_type` where it is eligible, else `arg` itself. The cast is differentiable.
///
/// Casts of weights (leaves in float32 that require grad, to the lower precision) are kept until clear_cache(), so that
/// a weight used many times is cast once and its gradients meet before they are cast back. A weight that has changed
/// since, or that is wanted in another dtype, is cast anew. The cache is shared by all threads.
TORCH_API Tensor cached_cast(c10::ScalarType to_type, const Tensor& arg, c10::DeviceType device_type = c10::kCUDA);
TORCH_API std::optional<Tensor> cached_cast(
    c10::ScalarType to_type, const std::optional<Tensor>& arg, c10::DeviceType device_type = c10::kCUDA);
TORCH_API std::vector<Tensor> cached_cast(
    c10::ScalarType to_type, const TensorList& arg, c10::DeviceType device_type = c10::kCUDA);
TORCH_API std::vector<Tensor> cached_cast(
    c10::ScalarType to_type, const ITensorListRef& arg, c10::DeviceType device_type = c10::kCUDA);
/// Whatever holds no tensors.
template <typename T>
T cached_cast(c10::ScalarType /*to_type*/, T arg, c10::DeviceType /*device_type*/ = c10::kCUDA) {
  return arg;
}

/// float32 if `current` or the tensor is float32, else `current`. Tensors that are not eligible do not count. Throws
/// for floating point types that are neither float32 nor the lower precision.
TORCH_API c10::ScalarType prioritize(
    c10::ScalarType current, const Tensor& nextArg, c10::DeviceType device_type = c10::kCUDA);
TORCH_API c10::ScalarType prioritize(
    c10::ScalarType current, const TensorList& list, c10::DeviceType device_type = c10::kCUDA);
TORCH_API c10::ScalarType prioritize(
    c10::ScalarType current, const ITensorListRef& list, c10::DeviceType device_type = c10::kCUDA);
template <typename T>
c10::ScalarType prioritize(c10::ScalarType current, T /*nextArg*/, c10::DeviceType /*device_type*/ = c10::kCUDA) {
  return current;
}

/// The widest dtype among the arguments; begin with the lower precision as `current`.
template <typename... Args>
c10::ScalarType promote_type(c10::ScalarType current, c10::DeviceType device_type, const Args&... args) {
  ((current = prioritize(current, args, device_type)), ...);
  return current;
}

// --- policies
// ------------------------------------------------------------------------------------------------------------

/// What autocast does with an operator.
enum class CastPolicy : uint8_t {
  lower_precision_fp = 0, ///< casts all inputs to the lower precision
  fp32, ///< casts all inputs to float32
  fp32_set_opt_dtype, ///< asks for a float32 result by the operator's `dtype` argument, unless the caller set that
  fp32_append_dtype, ///< the same for overloads without `dtype`: calls the one that has it
  promote, ///< casts all inputs to the widest dtype among them
  banned, ///< refuses: the operator is not safe in lower precision
  none, ///< leaves the operator alone
};

/// Runs an operator by a policy.
TORCH_API void call_by_policy(
    CastPolicy policy,
    c10::DeviceType device_type,
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack);

/// That as a kernel, for backends that bring their own lists:
///     m.impl("mm", torch::CppFunction::makeFromBoxedFunction<&cast_kernel<CastPolicy::lower_precision_fp,
///     kPrivateUse1>>());
template <CastPolicy policy, c10::DeviceType device_type>
void cast_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  call_by_policy(policy, device_type, op, keys, stack);
}

} // namespace at::autocast
