// A function and its backward as captured graphs, free of CUDA: recording is behind an interface that tests imitate.
#pragma once

#include <aten/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::cuda {

/// Tensors to tensors.
using Graphable = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

namespace detail {

/// Records work so that it can be done again on the same memory.
class WorkRecorder {
 public:
  using Work = std::function<std::vector<at::Tensor>()>;
  struct Recording {
    std::vector<at::Tensor> results; // written again by each replay
    std::function<void()> replay;
  };

  virtual ~WorkRecorder() = default;
  virtual void warm_up(const Work& work) = 0;
  virtual Recording record(const Work& work) = 0;
  /// Is the work itself called again by a replay?
  virtual bool runs_again() const {
    return false;
  }
};

struct GraphedOptions {
  int num_warmup_iters = 3;
  bool allow_unused_input = false;
};

/// See torch::cuda::make_graphed.
Graphable make_graphed_by(
    WorkRecorder& recorder,
    const Graphable& function,
    const std::vector<at::Tensor>& sample_inputs,
    const std::vector<at::Tensor>& parameters,
    const GraphedOptions& options);

} // namespace detail
} // namespace torch::cuda
