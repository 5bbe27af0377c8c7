// Operators that have changed, as programs of older versions mean them.
#pragma once

#include <csrc/jit/frontend/sugared_value.h>

#include <cstdint>

namespace torch::jit {

/// `torch` as archives of this version mean it: calls of operators whose meaning has changed since then give what they
/// gave at that time.
SugaredValuePtr torchOfVersion(uint64_t version);

} // namespace torch::jit
