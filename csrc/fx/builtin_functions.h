// What the sources of functions share.
#pragma once

#include <csrc/fx/function.h>

#include <vector>

namespace torch::fx {

/// The elements of an operand that is a list or a tuple.
std::vector<c10::IValue> list_items(const Operand& operand);
/// cond, while_loop and others that run graphs.
std::vector<Function> higher_order_functions();

} // namespace torch::fx
