// The switches of the CUDA fuser of older libtorch, which is gone there, too: for programs that ask for it.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <atomic>

namespace torch::jit::fuser::cuda {

/// There is no such fuser, so that these are false whatever is set; setters return the setting before.
inline bool canBeEnabled() {
  return false;
}
inline bool isEnabled() {
  return false;
}
inline bool setEnabled(bool) {
  return false;
}
inline bool getSingletonFusion() {
  return false;
}
inline bool setSingletonFusion(bool) {
  return false;
}
inline bool getHorizontalFusion() {
  return false;
}
inline bool setHorizontalFusion(bool) {
  return false;
}
/// Kept as it is set.
inline std::atomic<bool>& getCudaFusionGuardMode() {
  static std::atomic<bool> mode{true};
  return mode;
}
/// Changes nothing.
inline void fuseGraph(std::shared_ptr<Graph>&) {}
inline bool canFuseNode(const Node*) {
  return false;
}

} // namespace torch::jit::fuser::cuda
