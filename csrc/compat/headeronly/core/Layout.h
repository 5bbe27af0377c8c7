#pragma once
#include <c10/core/Layout.h>

namespace torch::headeronly {
using c10::Layout;
using c10::kStrided;
using c10::kSparse;
using c10::kSparseCsr;
using c10::kMkldnn;
using c10::kSparseCsc;
using c10::kSparseBsr;
using c10::kSparseBsc;
using c10::kJagged;
} // namespace torch::headeronly
