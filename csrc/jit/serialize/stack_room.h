// How much of the stack is left: files decide how deeply their definitions refer to each other.
#pragma once

namespace torch::jit {

/// Throws c10::Error, "... nested too deeply", if less than a quarter of this thread's stack is left.
void check_stack_room(const char* what);

} // namespace torch::jit
