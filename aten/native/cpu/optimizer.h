// Steps of optimizers on the CPU.
#pragma once

#include <aten/native/support/fused_step.h>

namespace at::native {

#define LT_DECLARE_FUSED_STEP(level)                                                 \
  namespace level {                                                                  \
  template <class Settings>                                                          \
  void fused_step(c10::ArrayRef<StepArrays> list, c10::ArrayRef<Settings> settings); \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_FUSED_STEP(v2)
LT_DECLARE_FUSED_STEP(v3)
LT_DECLARE_FUSED_STEP(v4)
#endif
#undef LT_DECLARE_FUSED_STEP

} // namespace at::native
