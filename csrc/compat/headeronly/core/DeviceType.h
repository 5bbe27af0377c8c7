#pragma once
#include <c10/core/DeviceType.h>

namespace torch::headeronly {
using c10::COMPILE_TIME_MAX_DEVICE_TYPES;
using c10::DeviceType;
using c10::kCPU;
using c10::kCUDA;
using c10::kFPGA;
using c10::kHIP;
using c10::kHPU;
using c10::kIPU;
using c10::kLazy;
using c10::kMAIA;
using c10::kMPS;
using c10::kMTIA;
using c10::kMeta;
using c10::kMetal;
using c10::kPrivateUse1;
using c10::kVE;
using c10::kVulkan;
using c10::kXLA;
using c10::kXPU;
} // namespace torch::headeronly
