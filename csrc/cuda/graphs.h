// CUDA graphs of whole pieces of a program.
#pragma once

#include <aten/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <csrc/cuda/graphed.h>

#include <optional>
#include <vector>

namespace torch::cuda {

using detail::GraphedOptions;

/// What happens in its scope is captured into a graph instead of being run: on a stream of its own, which waits for
/// what was current before. end() reports errors; a scope that is left by an exception gives the capture up.
class TORCH_CUDA_CPP_API GraphCaptureScope {
 public:
  explicit GraphCaptureScope(
      at::cuda::CUDAGraph& graph,
      at::cuda::MempoolId_t pool = {0, 0},
      std::optional<c10::cuda::CUDAStream> stream = std::nullopt,
      cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
  GraphCaptureScope(const GraphCaptureScope&) = delete;
  GraphCaptureScope& operator=(const GraphCaptureScope&) = delete;
  ~GraphCaptureScope();

  void end();

 private:
  at::cuda::CUDAGraph& graph_;
  const int exceptions_before_;
  std::optional<c10::cuda::CUDAStreamGuard> guard_;
};

/// `function` and its backward as two CUDA graphs: one call of the runtime each, instead of one for each kernel. The
/// result takes inputs of the samples' sizes and dtypes, and gives outputs that the next call overwrites (clone() what
/// is to last). Gradients flow to inputs whose samples require them and to `parameters`, the leaves that the function
/// uses; these are read where they lie, so optimizers may change them in place. Rules of capture: Note [CUDA graphs].
/// The function runs `num_warmup_iters` times before, so state that it changes (running statistics) changes.
TORCH_CUDA_CPP_API Graphable make_graphed(
    const Graphable& function,
    const std::vector<at::Tensor>& sample_inputs,
    const std::vector<at::Tensor>& parameters = {},
    const GraphedOptions& options = {},
    at::cuda::MempoolId_t pool = {0, 0});

} // namespace torch::cuda
