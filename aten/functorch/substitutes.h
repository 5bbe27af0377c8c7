// Tensors that stand in for others in all operator calls of a thread.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <unordered_map>
#include <utility>
#include <vector>

// Note [Substitutes]
// A module's forward reads its weight from a member, which is a handle of the parameter. To call it with another
// weight, perhaps one that is batched, the parameter gets the key FuncTorchGradWrapper, whose kernel puts the other
// tensor in its place in each call, before any other kernel sees it. Sizes and dtype, which a forward may ask the
// parameter for, must therefore be the same; the history is that of the substitute.

namespace at::functorch {

/// While it lives, operators that this thread calls with a tensor of the list get the one beside it. A tensor that is
/// its own substitute is left alone. Throws if sizes, dtype or device of a pair differ. Other threads must not use
/// these tensors meanwhile.
class TORCH_API SubstituteGuard {
 public:
  explicit SubstituteGuard(const std::vector<std::pair<Tensor, Tensor>>& substitutes);
  SubstituteGuard(const SubstituteGuard&) = delete;
  SubstituteGuard& operator=(const SubstituteGuard&) = delete;
  ~SubstituteGuard();

 private:
  struct Entry {
    Tensor original;
    Tensor before; // what stood for it outside of this guard
    bool had_key;
  };
  std::vector<Entry> entries_;
};

} // namespace at::functorch
