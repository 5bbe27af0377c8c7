// The type in which sums over elements of a given type are kept.
#pragma once

#include <aten/core/OpMathType.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <type_traits>

namespace at {

namespace detail {

template <class T>
struct complex_value {
  static constexpr bool is_complex = false;
  using type = T;
};
template <class T>
struct complex_value<c10::complex<T>> {
  static constexpr bool is_complex = true;
  using type = T;
};

// A CPU sums floats in double: it costs nothing beside memory. A GPU keeps float, and that of MPS knows no double.
template <class T, bool OnCpu>
struct acc_real {
  using math = opmath_type<T>;
  using type = std::conditional_t<
      std::is_same_v<T, bool> && OnCpu,
      bool,
      std::conditional_t<
          std::is_integral_v<T>,
          std::int64_t,
          std::conditional_t<std::is_same_v<math, float> && OnCpu && std::is_same_v<T, float>, double, math>>>;
};

} // namespace detail

/// `acc_type_device<T, kCPU>`: accumulator for T on a device: int64 for integers, double for float on a CPU, float for
/// half. Devices other than CUDA, XPU and MPS count as CPUs.
template <class T, c10::DeviceType D>
struct AccumulateTypeDevice {
  static constexpr bool on_cpu = D != c10::DeviceType::CUDA && D != c10::DeviceType::XPU && D != c10::DeviceType::MPS;
  using real = typename detail::complex_value<T>::type;
  using wide = typename detail::acc_real<real, on_cpu>::type;
  using acc = std::conditional_t<D == c10::DeviceType::MPS && std::is_same_v<wide, double>, float, wide>;
  using type = std::conditional_t<
      detail::complex_value<T>::is_complex,
      c10::complex<std::conditional_t<std::is_floating_point_v<acc>, acc, double>>,
      acc>;
};

template <class T, bool is_cuda>
struct AccumulateType : AccumulateTypeDevice<T, is_cuda ? c10::DeviceType::CUDA : c10::DeviceType::CPU> {};

template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

template <class T, c10::DeviceType D>
using acc_type_device = typename AccumulateTypeDevice<T, D>::type;

/// The accumulator dtype for a run-time dtype.
TORCH_API c10::ScalarType toAccumulateType(c10::ScalarType type, c10::DeviceType device);
TORCH_API c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda);

} // namespace at
