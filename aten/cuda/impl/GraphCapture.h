// The life of a captured graph, free of CUDA: it reaches the runtime and the allocator through an interface that tests
// imitate.
#pragma once

#include <aten/cuda/PhiloxCudaState.h>
#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace at {

// Note [Random numbers in graphs]
// A kernel is captured with its arguments, so a seed and an offset given as numbers would be the same at each replay.
// While a capture is underway kernels get pointers instead: to seed and offset in device memory, which each replay
// writes before it starts the graph, and how many numbers the graph had drawn before this kernel. A replay moves the
// generator's offset by all that the graph draws; the numbers are those that the same work would draw without a graph.

/// Seed and position of a Philox sequence. Several generators may share one (graphsafe_set_state).
struct CUDAGeneratorState final : c10::intrusive_ptr_target {
  CUDAGeneratorState(uint64_t seed, uint64_t offset) : seed(seed), offset(offset) {}

  /// The offset before; moves it. Philox makes four numbers at once.
  uint64_t take(uint64_t increment) {
    return offset.fetch_add(round_up(increment), std::memory_order_relaxed);
  }
  static uint64_t round_up(uint64_t increment) {
    return (increment + 3) / 4 * 4;
  }

  std::atomic<uint64_t> seed;
  std::atomic<uint64_t> offset;
};

namespace cuda::impl {

/// The generators that a graph draws from.
class CapturedRandom {
 public:
  using StatePtr = c10::intrusive_ptr<CUDAGeneratorState>;
  /// Two numbers on the device: seed and offset.
  using Allocate = std::function<int64_t*()>;
  using Write = std::function<void(int64_t* where, uint64_t seed, uint64_t offset)>;

  /// What a kernel under capture is told. `allocate` is called at the first draw from a state.
  PhiloxCudaState draw(const StatePtr& state, uint64_t increment, const Allocate& allocate);
  /// Writes what the graph will read, and moves the generators by what it will draw.
  void before_replay(const Write& write);
  /// The graph is gone; hands the device memory over.
  std::vector<int64_t*> clear();

 private:
  struct Source {
    StatePtr state;
    int64_t* memory;
    uint64_t drawn;
  };

  std::mutex mutex_; // backward runs in threads of its own
  std::vector<Source> sources_;
};

/// What capturing asks of the runtime and the allocator. Failures throw, where nothing else is said.
class GraphDriver {
 public:
  virtual ~GraphDriver() = default;
  /// From now on, streams that are being captured allocate in the pool, which is held once more.
  virtual void begin_pool(c10::MempoolId_t id) = 0;
  virtual void end_pool(c10::MempoolId_t id) = 0;
  virtual void release_pool(c10::MempoolId_t id) = 0;
  virtual void begin_capture() = 0;
  /// The graph; null if the capture had become invalid.
  virtual void* end_capture() = 0;
  virtual void* instantiate(void* graph) = 0;
  virtual void launch(void* executable) = 0;
  virtual void destroy_graph(void* graph) noexcept = 0;
  virtual void destroy_executable(void* executable) noexcept = 0;
};

/// Capture, instantiation, replay and release in their order; what fails is undone.
class GraphCapture {
 public:
  GraphCapture(GraphDriver& driver, bool keep_graph) : driver_(driver), keep_graph_(keep_graph) {}
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;
  ~GraphCapture() {
    reset();
  }

  /// (0, 0): a pool of its own.
  void begin(c10::MempoolId_t pool);
  void end();
  /// Happens at the end of the capture, or, if the graph is kept, at the first replay.
  void instantiate();
  void replay(const CapturedRandom::Write& write_random);
  /// Gives everything back; a capture underway is given up.
  void reset() noexcept;

  bool capturing() const {
    return state_ == State::kCapturing;
  }
  c10::MempoolId_t pool() const;
  /// Null unless the graph is kept.
  void* graph() const;
  void* executable() const;
  CapturedRandom& random() {
    return random_;
  }
  void keep_graph() {
    keep_graph_ = true;
  }

  /// The id of a pool that nobody has: of a graph, or for users to share.
  static c10::MempoolId_t new_pool_of_graph();
  static c10::MempoolId_t new_pool_of_user();

 private:
  enum class State { kEmpty, kCapturing, kCaptured };

  void release_memory() noexcept;

  GraphDriver& driver_;
  bool keep_graph_;
  State state_ = State::kEmpty;
  c10::MempoolId_t pool_{0, 0};
  void* graph_ = nullptr;
  void* executable_ = nullptr;
  CapturedRandom random_;
};

} // namespace cuda::impl
} // namespace at
