// A function that is chosen by device, and on the CPU by instruction set: declared in a header, defined in one source,
// and registered in others, each compiled for what it serves. All of it stands in namespace at::native.
//
//   using fill_fn = void (*)(at::TensorIteratorBase&, double);
//   DECLARE_DISPATCH(fill_fn, fill_stub);                     // header
//   DEFINE_DISPATCH(fill_stub);                               // one source
//   REGISTER_DISPATCH(fill_stub, &fill_kernel);               // a source of kernels
//   fill_stub(at::kCPU, iter, 1.0);
//
// A source registers for the instruction set that CPU_CAPABILITY names (DEFAULT, AVX2, AVX512), without it for DEFAULT.
// Programs that have sources for AVX2 or AVX-512 define HAVE_AVX2_CPU_DEFINITION or HAVE_AVX512_CPU_DEFINITION in all
// their files, as for libtorch, and register each stub for those too; a null pointer leaves the call to the next lower
// one.
#pragma once

#include <aten/native/support/cpu_isa.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstddef>
#include <utility>

namespace at::native {

enum class CPUCapability { DEFAULT = 0, AVX2 = 1, AVX512 = 2, NUM_OPTIONS };

/// The best instruction set of this processor, see cpu_isa_level.
inline CPUCapability get_cpu_capability() {
  return static_cast<CPUCapability>(cpu_isa_level());
}

template <class Function, class Name>
struct DispatchStub;

/// `Name` tells stubs of one type of function apart.
template <class Result, class Name, class... Args>
struct DispatchStub<Result (*)(Args...), Name> {
  using FnPtr = Result (*)(Args...);

  DispatchStub() = default;
  DispatchStub(const DispatchStub&) = delete;
  DispatchStub& operator=(const DispatchStub&) = delete;

  /// Calls what is registered for the device; throws where nothing is.
  template <class... Given>
  Result operator()(c10::DeviceType device, Given&&... args) {
    const FnPtr function = find(device);
    TORCH_CHECK(
        function != nullptr, "DispatchStub: missing kernel for ", device,
        ": nothing is registered for this device. Register ",
        device == c10::DeviceType::CPU ? "one with REGISTER_DISPATCH or REGISTER_ALL_CPU_DISPATCH"
                                       : "one for it, or move the tensors to a device that has one");
    return (*function)(std::forward<Given>(args)...);
  }
  bool is_device_supported(c10::DeviceType device) const {
    return find(device) != nullptr;
  }

  /// For devices other than the CPU.
  void set_dispatch_ptr(c10::DeviceType device, FnPtr function) {
    others_[static_cast<std::size_t>(device)] = function;
  }
  void set_cuda_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::CUDA, function);
  }
  void set_hip_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::HIP, function);
  }
  void set_mps_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::MPS, function);
  }
  void set_mtia_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::MTIA, function);
  }
  void set_xpu_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::XPU, function);
  }
  void set_hpu_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::HPU, function);
  }
  void set_privateuse1_dispatch_ptr(FnPtr function) {
    set_dispatch_ptr(c10::DeviceType::PrivateUse1, function);
  }

  // Defined by the REGISTER_ macros.
  static TORCH_API FnPtr DEFAULT;
#ifdef HAVE_AVX2_CPU_DEFINITION
  static TORCH_API FnPtr AVX2;
#endif
#ifdef HAVE_AVX512_CPU_DEFINITION
  static TORCH_API FnPtr AVX512;
#endif

 private:
  FnPtr find(c10::DeviceType device) const {
    if (device != c10::DeviceType::CPU) {
      const auto index = static_cast<std::size_t>(device);
      return index < others_.size() ? others_[index] : nullptr;
    }
#ifdef HAVE_AVX512_CPU_DEFINITION
    if (get_cpu_capability() >= CPUCapability::AVX512 && AVX512 != nullptr) {
      return AVX512;
    }
#endif
#ifdef HAVE_AVX2_CPU_DEFINITION
    if (get_cpu_capability() >= CPUCapability::AVX2 && AVX2 != nullptr) {
      return AVX2;
    }
#endif
    return DEFAULT;
  }

  std::array<FnPtr, static_cast<std::size_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES)> others_{};
};

/// Registers when the program starts.
template <class Stub>
struct RegisterDispatch {
  RegisterDispatch(Stub& stub, c10::DeviceType device, typename Stub::FnPtr function) {
    stub.set_dispatch_ptr(device, function);
  }
};

} // namespace at::native

#define DECLARE_DISPATCH(fn, name)                                                         \
  struct name##_DECLARE_DISPATCH_type : DispatchStub<fn, name##_DECLARE_DISPATCH_type> {}; \
  extern TORCH_API struct name##_DECLARE_DISPATCH_type name;

#define DEFINE_DISPATCH(name) struct name##_DECLARE_DISPATCH_type name

#define REGISTER_ARCH_DISPATCH(name, arch, fn)  \
  template <>                                   \
  TORCH_API name##_DECLARE_DISPATCH_type::FnPtr \
      DispatchStub<name##_DECLARE_DISPATCH_type::FnPtr, struct name##_DECLARE_DISPATCH_type>::arch = fn;

#ifdef HAVE_AVX2_CPU_DEFINITION
#define REGISTER_AVX2_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, AVX2, fn)
#else
#define REGISTER_AVX2_DISPATCH(name, fn)
#endif
#ifdef HAVE_AVX512_CPU_DEFINITION
#define REGISTER_AVX512_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, AVX512, fn)
#else
#define REGISTER_AVX512_DISPATCH(name, fn)
#endif
// Processors that this library is not built for.
#define REGISTER_VSX_DISPATCH(name, fn)
#define REGISTER_ZVECTOR_DISPATCH(name, fn)
#define REGISTER_SVE128_DISPATCH(name, fn)
#define REGISTER_SVE256_DISPATCH(name, fn)

/// One function for all instruction sets, or none.
#define REGISTER_ALL_CPU_DISPATCH(name, fn) \
  REGISTER_ARCH_DISPATCH(name, DEFAULT, fn) \
  REGISTER_AVX2_DISPATCH(name, fn)          \
  REGISTER_AVX512_DISPATCH(name, fn)
#define REGISTER_NO_CPU_DISPATCH(name) REGISTER_ALL_CPU_DISPATCH(name, nullptr)
#define REGISTER_NO_AVX512_DISPATCH(name) REGISTER_AVX512_DISPATCH(name, nullptr)

#define REGISTER_DEVICE_DISPATCH(name, device, fn)                                        \
  static RegisterDispatch<struct name##_DECLARE_DISPATCH_type> name##__register_##device( \
      name, c10::DeviceType::device, fn);
#define REGISTER_CUDA_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, CUDA, fn)
#define REGISTER_HIP_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, HIP, fn)
#define REGISTER_MPS_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, MPS, fn)
#define REGISTER_MTIA_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, MTIA, fn)
#define REGISTER_XPU_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, XPU, fn)
#define REGISTER_HPU_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, HPU, fn)
#define REGISTER_PRIVATEUSE1_DISPATCH(name, fn) REGISTER_DEVICE_DISPATCH(name, PrivateUse1, fn)

#if defined(__CUDACC__)
#define REGISTER_DISPATCH(name, fn) REGISTER_CUDA_DISPATCH(name, fn)
#elif defined(CPU_CAPABILITY_AVX512)
// A kernel is worth AVX-512 only where ALSO_REGISTER_AVX512_DISPATCH says so.
#define REGISTER_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, AVX512, ((void)(fn), nullptr))
#define ALSO_REGISTER_AVX512_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, AVX512, fn)
#elif defined(CPU_CAPABILITY)
#define REGISTER_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, CPU_CAPABILITY, fn)
#define ALSO_REGISTER_AVX512_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, CPU_CAPABILITY, fn)
#else
#define REGISTER_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, DEFAULT, fn)
#define ALSO_REGISTER_AVX512_DISPATCH(name, fn) REGISTER_ARCH_DISPATCH(name, DEFAULT, fn)
#endif
