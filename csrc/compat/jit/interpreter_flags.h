// libtorch's name for a switch of the interpreter.
#pragma once

#include <csrc/jit/runtime/error_settings.h>

// A reference: a variable of a shared library may exist twice once a program names it.
inline bool& FLAGS_torch_jit_enable_rethrow_caught_exception = torch::jit::rethrowCaughtExceptions();
