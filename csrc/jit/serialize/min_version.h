// The versions of archives that operators need.
#pragma once

#include <aten/core/operator_name.h>

#include <cstdint>

namespace torch::jit {

/// The version since which the operator means what it means now: a reader of an older archive takes it for what it was
/// before. 0 for operators that never changed.
uint64_t version_of_operator(const c10::OperatorName& name);

} // namespace torch::jit
