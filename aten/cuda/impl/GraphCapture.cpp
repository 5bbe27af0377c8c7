#include <aten/cuda/impl/GraphCapture.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace at::cuda::impl {
namespace {

/// Runs what should not fail, where nobody could catch it.
template <class Function>
void warn_if_it_fails(const char* what, Function f) noexcept {
  try {
    f();
  } catch (const std::exception& e) {
    TORCH_WARN("CUDA graph: ", what, " failed: ", e.what());
  }
}

uint64_t next_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

PhiloxCudaState CapturedRandom::draw(const StatePtr& state, uint64_t increment, const Allocate& allocate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.state == state; });
  if (source == sources_.end()) {
    source = sources_.insert(source, {state, allocate(), 0});
  }
  const uint64_t before = source->drawn;
  source->drawn += CUDAGeneratorState::round_up(increment);
  return {source->memory, source->memory + 1, before};
}

void CapturedRandom::before_replay(const Write& write) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Source& source : sources_) {
    write(source.memory, source.state->seed, source.state->take(source.drawn));
  }
}

std::vector<int64_t*> CapturedRandom::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int64_t*> memory;
  for (const Source& source : sources_) {
    memory.push_back(source.memory);
  }
  sources_.clear();
  return memory;
}

c10::MempoolId_t GraphCapture::new_pool_of_graph() {
  return {next_id(), 0};
}

c10::MempoolId_t GraphCapture::new_pool_of_user() {
  return {0, next_id()};
}

void GraphCapture::begin(c10::MempoolId_t pool) {
  TORCH_CHECK(
      state_ != State::kCapturing, "CUDAGraph::capture_begin: this graph is being captured; call capture_end() first");
  TORCH_CHECK(
      state_ == State::kEmpty,
      "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance, or call "
      "reset() on this one.");
  TORCH_CHECK(
      pool.first == 0 || pool.second == 0, "CUDAGraph::capture_begin: (", pool.first, ", ", pool.second,
      ") is no pool; take that of graph_pool_handle() or of another graph's pool()");
  pool_ = pool != c10::MempoolId_t(0, 0) ? pool : new_pool_of_graph();
  driver_.begin_pool(pool_);
  try {
    driver_.begin_capture();
  } catch (...) {
    warn_if_it_fails("releasing its memory", [&] { driver_.end_pool(pool_); });
    release_memory();
    throw;
  }
  state_ = State::kCapturing;
}

void GraphCapture::end() {
  TORCH_CHECK(
      state_ == State::kCapturing, "CUDAGraph::capture_end: nothing is being captured; call capture_begin() first");
  try {
    graph_ = driver_.end_capture();
    TORCH_CHECK(
        graph_ != nullptr,
        "Invalid capture. A call that may not be captured came in between: one that waits for the device (item(), "
        "copies to "
        "the host), or work on another stream that was not joined.");
    if (!keep_graph_) {
      executable_ = driver_.instantiate(graph_);
      driver_.destroy_graph(std::exchange(graph_, nullptr));
    }
  } catch (...) {
    // The capture itself is over, whatever failed.
    state_ = State::kCaptured;
    warn_if_it_fails("releasing its memory", [&] { driver_.end_pool(pool_); });
    reset();
    throw;
  }
  state_ = State::kCaptured;
  driver_.end_pool(pool_);
}

void GraphCapture::instantiate() {
  TORCH_CHECK(state_ == State::kCaptured, "CUDAGraph::instantiate: called without a preceding successful capture");
  TORCH_CHECK(
      graph_ != nullptr, "CUDAGraph::instantiate() is intended to be called by the user only when keep_graph=true");
  if (executable_ != nullptr) {
    driver_.destroy_executable(std::exchange(executable_, nullptr));
  }
  executable_ = driver_.instantiate(graph_);
}

void GraphCapture::replay(const CapturedRandom::Write& write_random) {
  TORCH_CHECK(state_ == State::kCaptured, "Called CUDAGraph::replay without a preceding successful capture.");
  if (executable_ == nullptr) {
    instantiate();
  }
  random_.before_replay(write_random);
  driver_.launch(executable_);
}

void GraphCapture::reset() noexcept {
  if (state_ == State::kEmpty) {
    return;
  }
  if (state_ == State::kCapturing) {
    warn_if_it_fails("giving up its capture", [&] { graph_ = driver_.end_capture(); });
    warn_if_it_fails("releasing its memory", [&] { driver_.end_pool(pool_); });
  }
  if (executable_ != nullptr) {
    driver_.destroy_executable(std::exchange(executable_, nullptr));
  }
  if (graph_ != nullptr) {
    driver_.destroy_graph(std::exchange(graph_, nullptr));
  }
  release_memory();
}

void GraphCapture::release_memory() noexcept {
  state_ = State::kEmpty;
  warn_if_it_fails("releasing its memory", [&] { driver_.release_pool(pool_); });
  pool_ = {0, 0};
}

c10::MempoolId_t GraphCapture::pool() const {
  TORCH_CHECK(state_ == State::kCaptured, "Called CUDAGraph::pool() without a preceding successful capture.");
  return pool_;
}

void* GraphCapture::graph() const {
  TORCH_CHECK(state_ == State::kCaptured, "You cannot access the raw cudaGraph_t instance until it is captured");
  TORCH_CHECK(
      graph_ != nullptr,
      "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true");
  return graph_;
}

void* GraphCapture::executable() const {
  TORCH_CHECK(
      executable_ != nullptr, "You cannot access the raw cudaGraphExec_t instance until instantiate() has been called");
  return executable_;
}

} // namespace at::cuda::impl
