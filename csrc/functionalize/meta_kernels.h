// Shapes of results of operators that have no kernel for tensors without data.
#pragma once

namespace torch::functionalize {

/// Registers Meta kernels of operators that functions to be compiled use and that have none. The first call does.
void install_meta_kernels();

} // namespace torch::functionalize
