#pragma once

#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

namespace c10 {

/// Base of kernels that are objects: derive from it, add an operator() and whatever state the kernel needs.
struct TORCH_API OperatorKernel : c10::intrusive_ptr_target {
  ~OperatorKernel() override = default;
};

} // namespace c10
