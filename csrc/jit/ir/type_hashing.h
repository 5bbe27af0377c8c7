// Types as keys of unordered maps.
#pragma once

#include <csrc/jit/types.h>

#include <cstddef>

namespace torch::jit {

/// Equal types have equal hashes.
struct TORCH_API HashType {
  size_t operator()(const c10::ConstTypePtr& type) const;
};

/// Whether two types are equal, in whatever object each is.
struct EqualType {
  bool operator()(const c10::ConstTypePtr& a, const c10::ConstTypePtr& b) const {
    return *a == *b;
  }
};

} // namespace torch::jit
