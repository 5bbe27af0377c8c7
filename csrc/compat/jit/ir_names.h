// Names that libtorch's ir.h brings into torch::jit beside those of graphs.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/compat/aten/core/functional.h>

namespace torch::jit {

using c10::fmap;
using c10::ivalue::ConstantString;
using c10::ivalue::Future;

} // namespace torch::jit
