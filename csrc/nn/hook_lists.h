// What runs around a module's forward. For the sources of torch::nn.
#pragma once

#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/hooks.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace torch::nn::detail {

template <class Hook>
using HookList = std::vector<std::pair<int64_t, Hook>>;

struct HookLists {
  /// Renewed first, in this order.
  std::vector<std::shared_ptr<ComputedTensor>> computed;
  HookList<ForwardPreHook> forward_pre;
  HookList<ForwardHook> forward;
  HookList<BackwardHook> backward;
  int64_t next_id = 0;

  bool empty() const noexcept {
    return computed.empty() && forward_pre.empty() && forward.empty() && backward.empty();
  }

  void remove(int64_t id) {
    const auto erase = [id](auto& list) {
      list.erase(
          std::remove_if(list.begin(), list.end(), [id](const auto& entry) { return entry.first == id; }), list.end());
    };
    erase(forward_pre);
    erase(forward);
    erase(backward);
  }
};

} // namespace torch::nn::detail
