#pragma once

#include <c10/core/GradMode.h>

namespace at {
using AutoFwGradMode = c10::AutoFwGradMode;
using AutoGradMode = c10::AutoGradMode;
using GradMode = c10::GradMode;
using NoGradGuard = c10::NoGradGuard;
} // namespace at
