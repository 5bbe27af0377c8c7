#include <csrc/cuda/graphs.h>

#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>

#include <exception>
#include <memory>
#include <utility>

namespace torch::cuda {
namespace {

using at::cuda::CUDAGraph;
using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;

void wait_for(const CUDAStream& waiting, const CUDAStream& other) {
  c10::cuda::CUDAEvent event(cudaEventDisableTiming);
  event.record(other);
  event.block(waiting);
}

class GraphRecorder final : public detail::WorkRecorder {
 public:
  explicit GraphRecorder(at::cuda::MempoolId_t pool)
      : pool_(pool != at::cuda::MempoolId_t(0, 0) ? pool : at::cuda::graph_pool_handle()),
        stream_(c10::cuda::getStreamFromPool()) {}

  void warm_up(const Work& work) override {
    const CUDAStream before = c10::cuda::getCurrentCUDAStream();
    {
      const CUDAStreamGuard guard(stream_);
      wait_for(stream_, before);
      work();
    }
    wait_for(before, stream_);
  }

  Recording record(const Work& work) override {
    auto graph = std::make_shared<CUDAGraph>();
    Recording recording;
    c10::cuda::device_synchronize();
    GraphCaptureScope scope(*graph, pool_, stream_);
    recording.results = work();
    scope.end();
    recording.replay = [graph = std::move(graph)] { graph->replay(); };
    return recording;
  }

 private:
  const at::cuda::MempoolId_t pool_; // of forward and backward, which run one after the other
  const CUDAStream stream_;
};

} // namespace

GraphCaptureScope::GraphCaptureScope(
    CUDAGraph& graph, at::cuda::MempoolId_t pool, std::optional<CUDAStream> stream, cudaStreamCaptureMode mode)
    : graph_(graph), exceptions_before_(std::uncaught_exceptions()) {
  const CUDAStream before = c10::cuda::getCurrentCUDAStream();
  const CUDAStream capturing = stream ? *stream : c10::cuda::getStreamFromPool(false, before.device_index());
  guard_.emplace(capturing);
  wait_for(capturing, before);
  graph_.capture_begin(pool, mode);
}

GraphCaptureScope::~GraphCaptureScope() {
  if (!guard_) {
    return;
  }
  if (std::uncaught_exceptions() > exceptions_before_) {
    graph_.reset();
    return;
  }
  try {
    end();
  } catch (const std::exception& e) {
    TORCH_WARN("A CUDA graph could not be captured: ", e.what(), " (GraphCaptureScope::end() throws this as an error)");
  }
}

void GraphCaptureScope::end() {
  TORCH_CHECK(guard_.has_value(), "GraphCaptureScope::end: called twice");
  graph_.capture_end();
  guard_.reset();
}

Graphable make_graphed(
    const Graphable& function,
    const std::vector<at::Tensor>& sample_inputs,
    const std::vector<at::Tensor>& parameters,
    const GraphedOptions& options,
    at::cuda::MempoolId_t pool) {
  for (const at::Tensor& input : sample_inputs) {
    TORCH_CHECK(input.defined() && input.is_cuda(), "make_graphed: sample inputs must be CUDA tensors");
  }
  GraphRecorder recorder(pool);
  return detail::make_graphed_by(recorder, function, sample_inputs, parameters, options);
}

} // namespace torch::cuda
