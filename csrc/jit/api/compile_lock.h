// The lock under which programs are compiled.
#pragma once

#include <c10/macros/Export.h>

#include <mutex>

namespace torch::jit {

// Note [One lock for compiling]
// A body that is compiled asks for the schemas of the functions that it calls, and these are compiled first. They may
// belong to other compilation units, whose functions may call back. With a lock for each unit, or for each function,
// two threads that begin at both ends wait for each other, and which units belong together is only known once their
// bodies are resolved. So there is one recursive lock for all of them. What is compiled runs without it.

/// Held while units are changed or searched and while functions are compiled, by one thread, which may take it again.
TORCH_API std::unique_lock<std::recursive_mutex> compile_lock();

} // namespace torch::jit
