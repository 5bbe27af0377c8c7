// oneDNN, opened when it is first needed.
#pragma once

#include <c10/macros/Export.h>

namespace at::native::onednn {

// Note [oneDNN is opened on first use]
// Programs that multiply no matrices and convolve nothing are spared 0.8 ms at their start: oneDNN has 36,000 addresses
// for the dynamic linker to shift, and OpenCL beside it. So the library is not linked to. The functions of its C
// interface, which <dnnl.hpp> calls, are defined here once more, by tools/build/onednn_forwards.py: each looks for the
// one of its name when it is first called. They are hidden, so a program that uses oneDNN by itself has its own.

/// The address of a function of oneDNN's C interface, such as "dnnl_primitive_create".
/// Throws when there is no oneDNN on this machine, or it lacks the function.
TORCH_API void* find_function(const char* name);

} // namespace at::native::onednn
