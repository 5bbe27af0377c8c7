// Kernels for autocast keys by operator and policy, as backends write their lists:
//
//   TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
//     KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)
//     KERNEL_PRIVATEUSEONE(pow, Tensor_Scalar, fp32)
//   }
#pragma once

#include <aten/autocast/autocast_mode.h>

/// (device type, operator, policy) or (device type, operator, overload, policy), in a block of TORCH_LIBRARY_IMPL.
#define KERNEL(DEVICE, ...) \
  AT_AUTOCAST_PICK_(__VA_ARGS__, AT_AUTOCAST_KERNEL3_, AT_AUTOCAST_KERNEL2_)(DEVICE, __VA_ARGS__)
#define AT_AUTOCAST_PICK_(_0, _1, _2, NAME, ...) NAME
#define AT_AUTOCAST_KERNEL2_(DEVICE, OP, POLICY) AT_AUTOCAST_IMPL_(DEVICE, "aten::" #OP, POLICY)
#define AT_AUTOCAST_KERNEL3_(DEVICE, OP, OVERLOAD, POLICY) AT_AUTOCAST_IMPL_(DEVICE, "aten::" #OP "." #OVERLOAD, POLICY)
#define AT_AUTOCAST_IMPL_(DEVICE, NAME, POLICY)  \
  m.impl(                                        \
      NAME,                                      \
      torch::CppFunction::makeFromBoxedFunction< \
          &::at::autocast::cast_kernel<::at::autocast::CastPolicy::POLICY, DEVICE>>());
/// For operators that call an overload with another signature; which, the policy knows.
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(DEVICE, REDISPATCH_FUNC, NAME, SIGNATURE, REDISPATCH_SIGNATURE, POLICY) \
  AT_AUTOCAST_IMPL_(DEVICE, "aten::" NAME, POLICY)

#define KERNEL_CPU(...) KERNEL(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_CUDA(...) KERNEL(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_MTIA(...) KERNEL(c10::DeviceType::MTIA, __VA_ARGS__)
#define KERNEL_MAIA(...) KERNEL(c10::DeviceType::MAIA, __VA_ARGS__)
#define KERNEL_XPU(...) KERNEL(c10::DeviceType::XPU, __VA_ARGS__)
#define KERNEL_MPS(...) KERNEL(c10::DeviceType::MPS, __VA_ARGS__)
#define KERNEL_PRIVATEUSEONE(...) KERNEL(c10::DeviceType::PrivateUse1, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_CPU(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_CUDA(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_MTIA(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::MTIA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_MAIA(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::MAIA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_XPU(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::XPU, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(...) \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::PrivateUse1, __VA_ARGS__)
