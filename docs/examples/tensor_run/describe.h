// Modules and values in words.
#pragma once

#include <torch/script.h>

#include <string>

namespace tensor_run {

/// The methods with their schemas, the modules inside, how many parameters there are.
void describe(const torch::jit::Module& module);

/// Shapes of tensors, and what contains them; with `full` their elements, too.
std::string describe(const torch::IValue& value, bool full);

} // namespace tensor_run
