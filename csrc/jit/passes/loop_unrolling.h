// Loops that run a known number of times.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace torch::jit {

/// The body in place of loops that run a small, known number of times and whose bodies are short. Others stay: the
/// interpreter's cost for a turn is that of one node. True if something changed.
TORCH_API bool UnrollLoops(std::shared_ptr<Graph>& graph);
TORCH_API bool UnrollConstantLoops(std::shared_ptr<Graph>& graph);

/// Puts a copy of the loop before it that runs at most `times` times; the loop goes on from there. Returns the copy.
TORCH_API Node* PeelLoop(Node* loop, size_t times);

/// Peels each loop that has a node for which `callback` holds: in its body, not in that of a loop in there.
struct TORCH_API LoopsPeeler {
  explicit LoopsPeeler(std::function<bool(Node*)> callback, size_t num_iterations = 1)
      : callback_(std::move(callback)), num_iterations_(num_iterations) {}

  /// True if there was such a loop.
  bool run(const std::shared_ptr<Graph>& graph);

 private:
  std::function<bool(Node*)> callback_;
  size_t num_iterations_;
};

} // namespace torch::jit
