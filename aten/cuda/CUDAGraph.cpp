#include <aten/cuda/CUDAGraph.h>

#include <aten/core/Tensor.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/CachingHostAllocator.h>
#include <aten/cuda/impl/GraphCapture.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace at::cuda {
namespace {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
namespace allocator = c10::cuda::CUDACachingAllocator;

/// The capture that a stream takes part in; 0: none.
CaptureId_t capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CaptureId_t id = 0;
  const cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr);
  if (error == cudaErrorStreamCaptureImplicit) {
    // The default stream, while a stream that waits for it is captured: it takes no part itself.
    C10_CUDA_CLEAR_ERROR();
    return 0;
  }
  C10_CUDA_CHECK(error);
  return status == cudaStreamCaptureStatusActive ? id : 0;
}

/// Graphs that are being captured.
class Underway {
 public:
  void add(CaptureId_t id, CUDAGraph* graph) {
    const std::lock_guard<std::mutex> lock(mutex_);
    graphs_.emplace_back(id, graph);
    c10::cuda::count_captures(1);
  }
  void remove(const CUDAGraph* graph) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const auto& g) { return g.second == graph; });
    if (found != graphs_.end()) {
      graphs_.erase(found);
      c10::cuda::count_captures(-1);
    }
  }
  CUDAGraph* find(CaptureId_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const auto& g) { return g.first == id; });
    return found != graphs_.end() ? found->second : nullptr;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<CaptureId_t, CUDAGraph*>> graphs_;
};

Underway& underway() {
  static auto* const all = new Underway();
  return *all;
}

} // namespace

MempoolId_t graph_pool_handle() {
  return impl::GraphCapture::new_pool_of_user();
}

struct CUDAGraph::Impl final : impl::GraphDriver {
  Impl(CUDAGraph& graph, bool keep_graph) : owner(graph), capture(*this, keep_graph) {}

  void begin_pool(MempoolId_t id) override {
    allocator::get()->beginAllocateToPool(
        device, id, [this](cudaStream_t s) { return capture_id != 0 && capture_of(s) == capture_id; });
  }
  void end_pool(MempoolId_t id) override {
    allocator::get()->endAllocateToPool(device, id);
  }
  void release_pool(MempoolId_t id) override {
    static_cast<void>(capture.random().clear());
    if (random_states != nullptr) {
      allocator::get()->raw_delete(std::exchange(random_states, nullptr));
    }
    if (captured_id != 0) {
      CachingHostAllocator_releaseCapture(std::exchange(captured_id, 0), std::exchange(last_replay, std::nullopt));
    }
    allocator::get()->releasePool(device, id);
  }
  void begin_capture() override {
    C10_CUDA_CHECK(cudaStreamBeginCapture(stream->stream(), mode));
    captured_id = capture_id = capture_of(stream->stream());
    underway().add(capture_id, &owner);
    // Before anything else of the capture: no work of the graph may lie where a replay has written seed and offset.
    try {
      random_states = static_cast<int64_t*>(allocator::get()->raw_alloc(kMostGenerators * 2 * sizeof(int64_t)));
      random_states_used = 0;
    } catch (...) {
      if (void* graph = end_capture()) {
        destroy_graph(graph);
      }
      throw;
    }
  }
  void* end_capture() override {
    underway().remove(&owner);
    capture_id = 0;
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream->stream(), &graph);
    if (error == cudaErrorStreamCaptureInvalidated) {
      C10_CUDA_CLEAR_ERROR();
      return nullptr;
    }
    C10_CUDA_CHECK(error);
    size_t nodes = 0;
    if (graph != nullptr && cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess && nodes == 0) {
      TORCH_WARN(
          "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or "
          "stream.");
    }
    return graph;
  }
  void* instantiate(void* graph) override {
    const CUDAGuard guard(device);
    cudaGraphExec_t executable = nullptr;
    C10_CUDA_CHECK(cudaGraphInstantiateWithFlags(
        &executable, static_cast<cudaGraph_t>(graph), cudaGraphInstantiateFlagAutoFreeOnLaunch));
    return executable;
  }
  void launch(void* executable) override {
    C10_CUDA_CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable), c10::cuda::getCurrentCUDAStream(device)));
  }
  void destroy_graph(void* graph) noexcept override {
    C10_CUDA_IGNORE_ERROR(cudaGraphDestroy(static_cast<cudaGraph_t>(graph)));
  }
  void destroy_executable(void* executable) noexcept override {
    // A replay that still runs keeps what it needs.
    C10_CUDA_IGNORE_ERROR(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable)));
  }

  int64_t* take_random_state() {
    TORCH_CHECK(
        random_states_used < kMostGenerators, "CUDAGraph: a graph draws from at most ", kMostGenerators, " generators");
    return random_states + 2 * random_states_used++;
  }

  CUDAGraph& owner;
  c10::DeviceIndex device = -1;
  std::optional<CUDAStream> stream;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  CaptureId_t capture_id = 0; // while the capture is underway
  CaptureId_t captured_id = 0; // as long as there may be a graph
  std::optional<CUDAStream> last_replay;
  static constexpr size_t kMostGenerators = 32;
  int64_t* random_states = nullptr; // seed and offset of each generator
  size_t random_states_used = 0;
  std::vector<c10::intrusive_ptr<CUDAGeneratorState>> registered;
  impl::GraphCapture capture; // the last member: its destructor uses the others
};

CUDAGraph::CUDAGraph(bool keep_graph) : impl_(std::make_unique<Impl>(*this, keep_graph)) {}

CUDAGraph::~CUDAGraph() = default;

void CUDAGraph::register_generator_state(const Generator& generator) {
  TORCH_CHECK(
      generator.defined() && generator.device().is_cuda(),
      "CUDAGraph::register_generator_state: expected a CUDA generator");
  register_generator_state(generator.get<CUDAGeneratorImpl>()->state());
}

void CUDAGraph::register_generator_state(c10::intrusive_ptr<CUDAGeneratorState> state) {
  TORCH_CHECK(state, "CUDAGraph::register_generator_state: expected a state, got null");
  if (impl_->capture.capturing()) {
    draw(state, 0);
  } else {
    impl_->registered.push_back(std::move(state));
  }
}

void CUDAGraph::capture_begin(MempoolId_t pool, cudaStreamCaptureMode capture_mode) {
  const CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  TORCH_CHECK(
      stream != c10::cuda::getDefaultCUDAStream(),
      "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
      "default "
      "stream.)");
  impl_->stream = stream;
  impl_->device = stream.device_index();
  impl_->mode = capture_mode;
  // A handle cannot be made under capture. Its workspaces are to be the graph's own.
  getCurrentCUDABlasHandle(/*setup=*/false);
  clearCublasWorkspaces();
  impl_->capture.begin(pool);
  for (const auto& state : impl_->registered) {
    draw(state, 0);
  }
}

void CUDAGraph::capture_end() {
  TORCH_CHECK(
      !impl_->capture.capturing() || c10::cuda::getCurrentCUDAStream() == *impl_->stream,
      "Capture must end on the same stream it began on.");
  impl_->capture.end();
  // The graph goes on using the memory; outside of it nobody may.
  clearCublasWorkspaces();
}

void CUDAGraph::instantiate() {
  impl_->capture.instantiate();
}

void CUDAGraph::replay() {
  const c10::cuda::OptionalCUDAGuard guard(
      impl_->device >= 0 ? std::optional<c10::DeviceIndex>(impl_->device) : std::nullopt);
  impl_->capture.replay([this](int64_t* where, uint64_t seed, uint64_t offset) {
    // From pageable memory: the runtime has copied the numbers when the call returns.
    const uint64_t numbers[2] = {seed, offset};
    C10_CUDA_CHECK(cudaMemcpyAsync(
        where, numbers, sizeof(numbers), cudaMemcpyHostToDevice, c10::cuda::getCurrentCUDAStream(impl_->device)));
  });
  impl_->last_replay = c10::cuda::getCurrentCUDAStream(impl_->device);
}

void CUDAGraph::reset() {
  impl_->capture.reset();
}

MempoolId_t CUDAGraph::pool() {
  return impl_->capture.pool();
}

void CUDAGraph::enable_debug_mode() {
  impl_->capture.keep_graph();
}

void CUDAGraph::debug_dump(const std::string& debug_path) {
  C10_CUDA_CHECK(cudaGraphDebugDotPrint(raw_cuda_graph(), debug_path.c_str(), cudaGraphDebugDotFlagsVerbose));
}

cudaGraph_t CUDAGraph::raw_cuda_graph() {
  return static_cast<cudaGraph_t>(impl_->capture.graph());
}

cudaGraphExec_t CUDAGraph::raw_cuda_graph_exec() {
  return static_cast<cudaGraphExec_t>(impl_->capture.executable());
}

CUDAGraph* CUDAGraph::get_currently_capturing_graph() {
  if (C10_LIKELY(c10::cuda::captures_underway() == 0)) {
    return nullptr;
  }
  const CaptureId_t id = capture_of(c10::cuda::getCurrentCUDAStream());
  return id != 0 ? underway().find(id) : nullptr;
}

PhiloxCudaState CUDAGraph::draw(const c10::intrusive_ptr<CUDAGeneratorState>& state, uint64_t increment) {
  return impl_->capture.random().draw(state, increment, [this] { return impl_->take_random_state(); });
}

} // namespace at::cuda
