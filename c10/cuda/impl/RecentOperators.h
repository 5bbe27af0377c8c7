// The operators that a thread ran last, for errors of kernels that are reported by a later call.
#pragma once

#include <string>

namespace c10::cuda::impl {

/// Keeps the name, which must last, among the last few of this thread.
void note_operator(const char* name);

/// "sum, mul.Tensor, add.Tensor", the newest first; empty if there are none.
std::string recent_operators();

} // namespace c10::cuda::impl
