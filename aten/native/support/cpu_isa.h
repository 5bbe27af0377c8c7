// Which of the compiled instruction sets this processor runs best.
#pragma once

#include <c10/macros/Macros.h>

namespace at::native {

/// Index into a kernel's table: 0 = x86-64-v2, 1 = v3 (AVX2, FMA, F16C), 2 = v4 (AVX-512 F, BW, DQ, VL).
/// The environment variable LIBTENSOR_CPU_ISA (v2, v3, v4) lowers it.
namespace detail {
extern TORCH_API const int cpu_isa_level_value;
}
inline int cpu_isa_level() {
  return detail::cpu_isa_level_value;
}

} // namespace at::native
