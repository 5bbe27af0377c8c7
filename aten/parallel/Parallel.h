// Splits loops over threads. One pool serves the whole library; no thread is started before the first parallel loop.
#pragma once

#include <c10/macros/Macros.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace at {

/// Ceil of x / y for positive y.
inline std::int64_t divup(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

/// Reads OMP_NUM_THREADS and the machine's limits (affinity, cgroup). Idempotent.
TORCH_API void init_num_threads();

/// Threads that a parallel loop may use. Throws when `nthreads` is not positive.
TORCH_API void set_num_threads(int nthreads);
TORCH_API int get_num_threads();

/// Index of this thread inside a parallel loop, 0 outside.
TORCH_API int get_thread_num();

/// True inside the body of a parallel loop that runs on several threads, and on threads limited to one.
TORCH_API bool in_parallel_region();

namespace internal {

/// Elements of cheap work below which a loop stays on one thread.
constexpr std::int64_t GRAIN_SIZE = 32768;

inline void lazy_init_num_threads() {
  init_num_threads();
}

TORCH_API void set_thread_num(int id);

/// Sets the number that get_thread_num gives for the guard's life.
class TORCH_API ThreadIdGuard {
 public:
  explicit ThreadIdGuard(int new_id) : old_id_(get_thread_num()) {
    set_thread_num(new_id);
  }
  ~ThreadIdGuard() {
    set_thread_num(old_id_);
  }
  ThreadIdGuard(const ThreadIdGuard&) = delete;
  ThreadIdGuard& operator=(const ThreadIdGuard&) = delete;

 private:
  int old_id_;
};

/// Keeps every parallel loop of this thread serial for the guard's life. Threads that run beside others of the program
/// (data loaders, tasks of at::launch) take it, so that all together use no more than the set number of threads.
class TORCH_API ThreadLimitGuard {
 public:
  ThreadLimitGuard();
  ~ThreadLimitGuard();
  ThreadLimitGuard(const ThreadLimitGuard&) = delete;
  ThreadLimitGuard& operator=(const ThreadLimitGuard&) = delete;

 private:
  bool previous_;
};

/// Threads that are worth using now for `work` items in chunks of at least `grain`; 1 inside a parallel region.
TORCH_API int threads_for(std::int64_t work, std::int64_t grain);

/// Calls body(context, thread, begin, end) on `threads` equal chunks; the first exception is rethrown here. One thread
/// runs the same machine code as several: a copy that the compiler inlines may contract other products and sums.
TORCH_API void run_parallel(
    int threads,
    std::int64_t begin,
    std::int64_t end,
    void (*body)(void* context, int thread, std::int64_t begin, std::int64_t end),
    void* context);

} // namespace internal

/// Calls f(begin, end) on disjoint chunks that cover [begin, end), each of at least `grain_size` items, perhaps on
/// several threads. Thread-local state (dispatch keys, grad mode) is not passed on: bodies work on data pointers. The
/// first exception that a body throws is thrown here.
template <class F>
inline void parallel_for(const std::int64_t begin, const std::int64_t end, const std::int64_t grain_size, const F& f) {
  if (begin >= end) {
    return;
  }
  const std::int64_t work = end - begin;
  const int threads = work > grain_size && work > 1 ? internal::threads_for(work, grain_size) : 1;
  internal::run_parallel(
      threads, begin, end,
      [](void* context, int, std::int64_t b, std::int64_t e) { (*static_cast<const F*>(context))(b, e); },
      const_cast<F*>(&f));
}

/// Reduces [begin, end): partial results f(begin, end, identity) of the chunks are combined in order by sf(a, b).
template <class scalar_t, class F, class SF>
inline scalar_t parallel_reduce(
    const std::int64_t begin,
    const std::int64_t end,
    const std::int64_t grain_size,
    const scalar_t ident,
    const F& f,
    const SF& sf) {
  if (begin >= end) {
    return ident;
  }
  const std::int64_t work = end - begin;
  const int threads = work > grain_size && work > 1 ? internal::threads_for(work, grain_size) : 1;
  struct Context {
    const F& f;
    const scalar_t& ident;
    scalar_t* partial;
  };
  constexpr auto body = [](void* raw, int thread, std::int64_t b, std::int64_t e) {
    auto& c = *static_cast<Context*>(raw);
    c.partial[thread] = c.f(b, e, c.ident);
  };
  if (threads == 1) {
    scalar_t result = ident;
    Context context{f, ident, &result};
    internal::run_parallel(1, begin, end, body, &context);
    return result;
  }
  // One result a thread, far below the size where sharing a cache line would matter.
  constexpr int kInline = 64;
  struct Slot {
    scalar_t value;
  };
  Slot slots_inline[kInline];
  const int used = std::min(threads, kInline);
  for (int i = 0; i < used; ++i) {
    slots_inline[i].value = ident;
  }
  static_assert(sizeof(Slot) == sizeof(scalar_t));
  Context context{f, ident, &slots_inline[0].value};
  internal::run_parallel(used, begin, end, body, &context);
  scalar_t result = ident;
  for (int i = 0; i < used; ++i) {
    result = sf(result, slots_inline[i].value);
  }
  return result;
}

/// Human-readable settings of the thread pools.
TORCH_API std::string get_parallel_info();

/// Threads for tasks given to at::launch. May be set once, before the first use; throws otherwise.
TORCH_API void set_num_interop_threads(int nthreads);
TORCH_API std::size_t get_num_interop_threads();

/// Runs a task on the inter-op pool.
TORCH_API void launch(std::function<void()> func);
namespace internal {
TORCH_API void launch_no_thread_state(std::function<void()> fn);
} // namespace internal

/// Runs a task on an intra-op thread; serial work of the caller's thread here.
TORCH_API void intraop_launch(const std::function<void()>& func);

/// Threads that set_num_threads has not changed: what the environment and machine say.
TORCH_API int intraop_default_num_threads();

} // namespace at
