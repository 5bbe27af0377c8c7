// A recorded function made ready to run: functional graphs, compiled by a backend, and what surrounds them.
#pragma once

#include <csrc/capture/backend.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/fx/graph_module.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::aot {

// Note [AOT autograd]
// What was recorded is run once more on tensors without data, above Autograd, and so is the backward pass, and both are
// recorded: one joint graph. It is made functional (csrc/functionalize) and cut into a forward and a backward graph
// where the least must be kept between them (partition.h). A call is then one node of the graph of autograd, whose
// backward pass is the backward graph.
//
// Around the graphs stands what only C++ can do: results that are views of arguments are made of them, arguments that
// are written to and then have a history are written through autograd, and arguments must share memory with one another
// and with what the function refers to as they did when it was recorded.

/// How a recorded function is compiled.
struct Options {
  /// See capture::find_backend().
  capture::Backend backend;
  /// How much of what the backward pass needs is kept, rather than computed again: see partition.h.
  double memory_budget = 1;
  /// Whether somebody may ask for gradients of what the function gives: not where it calls backward() itself.
  bool has_gradients = true;
  /// Whether parameters and buffers do not change between calls that want no gradients.
  bool freeze = false;
  /// Whether convolutions may work on channels-last images, and so round in another order.
  bool changes_layouts = false;
};

/// One recording, compiled. May be run by several threads at once.
class CompiledCall {
 public:
  /// `module` is what was recorded, `inputs` what it was recorded with, `histories` what these were for autograd before
  /// the function ran, `references` the attributes, and `checkpoints` as the recording has them. Throws c10::Error,
  /// saying why, where it must run operator by operator.
  static std::shared_ptr<const CompiledCall> make(
      const fx::GraphModule& module,
      const std::vector<at::Tensor>& inputs,
      const std::vector<functionalize::History>& histories,
      const std::vector<std::pair<std::string, at::Tensor>>& references,
      const std::vector<uint32_t>& checkpoints,
      const Options& options);
  virtual ~CompiledCall() = default;

  /// The results of a call. False where the inputs share memory in another way than in the recording and the function
  /// writes to them: then nothing has been done, and it must run operator by operator.
  virtual bool run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& results) const = 0;
  /// The graphs, as texts.
  virtual std::string describe() const = 0;
};

} // namespace torch::aot
