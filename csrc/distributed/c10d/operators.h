// The operators c10d::* and _c10d_functional::*.
#pragma once

namespace c10d::detail {

/// Defines the operators and classes, the first time: programs without process groups do not pay for them.
void register_operators();
/// Those of _c10d_functional, once.
void register_functional_operators();

} // namespace c10d::detail
