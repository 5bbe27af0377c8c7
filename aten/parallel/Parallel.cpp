#include <aten/parallel/Parallel.h>

#include <aten/parallel/CpuQuota.h>
#include <aten/parallel/ParallelPool.h>
#include <c10/util/Exception.h>

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

namespace at {

namespace {

struct ThreadState {
  int id = 0;
  bool in_region = false;
  bool limited = false;
};

constinit __thread ThreadState state __attribute__((tls_model("initial-exec")));

std::atomic<int> requested{0}; // by set_num_threads; 0: take the default
std::atomic<bool> forked{false};

int environment_threads(const char* name) {
  const char* text = std::getenv(name);
  const int value = text != nullptr ? std::atoi(text) : 0;
  return value > 0 ? value : 0;
}

int default_threads() {
  static const int threads = [] {
    if (const int asked = environment_threads("OMP_NUM_THREADS")) {
      return asked;
    }
    const int procs = std::max(1, omp_get_num_procs()); // obeys the affinity mask
    const int granted = internal::cgroup_cpu_quota();
    return granted > 0 ? std::min(procs, granted) : procs;
  }();
  return threads;
}

int wanted_threads() {
  const int asked = requested.load(std::memory_order_relaxed);
  return asked > 0 ? asked : default_threads();
}

// Threads do not survive fork(): a loop in the child would wake threads that are not there.
void after_fork_in_child() {
  forked.store(true, std::memory_order_relaxed);
}

} // namespace

void init_num_threads() {
  wanted_threads();
}

void set_num_threads(int nthreads) {
  TORCH_CHECK(nthreads > 0, "Expected positive number of threads, got ", nthreads);
  requested.store(nthreads, std::memory_order_relaxed);
}

int get_num_threads() {
  return state.limited || state.in_region ? 1 : wanted_threads();
}

int intraop_default_num_threads() {
  return default_threads();
}

int get_thread_num() {
  return state.id;
}

bool in_parallel_region() {
  return state.in_region || state.limited;
}

namespace internal {

void set_thread_num(int id) {
  state.id = id;
}

ThreadLimitGuard::ThreadLimitGuard() : previous_(state.limited) {
  state.limited = true;
}

ThreadLimitGuard::~ThreadLimitGuard() {
  state.limited = previous_;
}

int threads_for(std::int64_t work, std::int64_t grain) {
  if (state.in_region || state.limited || forked.load(std::memory_order_relaxed)) {
    return 1;
  }
  const std::int64_t useful = grain > 1 ? divup(work, grain) : work;
  return static_cast<int>(std::min<std::int64_t>({wanted_threads(), useful, kMostChunks}));
}

namespace {

struct Body {
  void (*body)(void*, int, std::int64_t, std::int64_t);
  void* context;
};

// A chunk on whatever thread runs it: it has the chunk's number, and loops inside are serial.
void run_chunk(void* raw, int chunk, std::int64_t begin, std::int64_t end) {
  struct Region {
    explicit Region(int id) : outer_id(std::exchange(state.id, id)) {
      state.in_region = true;
    }
    ~Region() {
      state.in_region = false;
      state.id = outer_id;
    }
    const int outer_id;
  };
  const Body& body = *static_cast<const Body*>(raw);
  const Region region(chunk);
  body.body(body.context, chunk, begin, end);
}

} // namespace

void run_parallel(
    int threads,
    std::int64_t begin,
    std::int64_t end,
    void (*body)(void*, int, std::int64_t, std::int64_t),
    void* context) {
  if (threads == 1) {
    const ThreadIdGuard guard(0);
    return body(context, 0, begin, end);
  }
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  static_cast<void>(registered);
  Body wrapped{body, context};
  const ParallelLoop loop{threads, begin, end, &run_chunk, &wrapped};
  run_on_pool(loop, wanted_threads());
}

} // namespace internal

std::string get_parallel_info() {
  std::string info = "ATen/Parallel:\n\tat::get_num_threads() : " + std::to_string(get_num_threads());
  info += "\n\tat::get_num_interop_threads() : " + std::to_string(get_num_interop_threads());
  info +=
      "\nOpenMP " + std::to_string(_OPENMP) + "\n\tomp_get_max_threads() : " + std::to_string(omp_get_max_threads());
  info += "\n\tomp_get_num_procs() : " + std::to_string(omp_get_num_procs());
  info += "\nEnvironment variables:\n\tOMP_NUM_THREADS : ";
  const char* omp = std::getenv("OMP_NUM_THREADS");
  info += omp != nullptr ? omp : "[not set]";
  info += "\nATen parallel backend: native thread pool\n";
  return info;
}

void intraop_launch(const std::function<void()>& func) {
  // The pool runs loops, not single tasks: the caller does the work.
  func();
}

} // namespace at
