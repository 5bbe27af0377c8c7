// The operators c10d::* and _c10d_functional::*.
#pragma once

namespace c10d::detail {

/// Defines the operators and classes, the first time: programs without process groups do not pay for them.
void register_operators();

} // namespace c10d::detail
