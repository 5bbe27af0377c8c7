#include <aten/parallel/ParallelPool.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

// Note [Parallel loops]
// A loop is cut into as many chunks as it may use threads, always in the same places: results do not depend on who runs
// which chunk. Threads that are awake take chunks one by one, the caller among them. So on a busy machine, where the
// other threads do not get a processor, the caller runs all chunks itself instead of waiting at a barrier; it waits for
// chunks alone that another thread has begun. Waiting threads watch for a few microseconds before they sleep, which is
// how long the next loop usually lets them wait.
//
// A word holds the number of the loop and of its chunks that nobody has taken. Taking one is a compare-and-swap on it:
// success says that the loop still runs, since it ends only when all its chunks have, so its description may be read.

namespace at::internal {

void ParallelLoop::run(int chunk) const {
  const std::int64_t size = (end - begin + chunks - 1) / chunks;
  const std::int64_t from = begin + chunk * size;
  if (from < end) {
    body(context, chunk, from, std::min(end, from + size));
  }
}

namespace {

constexpr int kWatchForLoop = 2000; // rounds of watching before sleep, some ten nanoseconds each
constexpr int kWatchForEnd = 5000;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Pool {
 public:
  void run(const ParallelLoop& loop, int limit) {
    const Visit caller(inside_);
    if (taken_.exchange(true, std::memory_order_acquire)) {
      for (int chunk = 0; chunk < loop.chunks; ++chunk) {
        loop.run(chunk);
      }
      return;
    }
    start_workers(loop.chunks - 1);
    loop_ = loop;
    limit_.store(limit, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    error_ = nullptr;
    failed_.clear(std::memory_order_relaxed);
    ticket_.store(++number_ << kChunkBits | static_cast<std::uint64_t>(loop.chunks), std::memory_order_release);
    posted_.fetch_add(1, std::memory_order_seq_cst);
    wake(loop.chunks - 1);
    work([] { return true; });
    wait_for(loop.chunks);
    const std::exception_ptr error = std::exchange(error_, nullptr);
    taken_.store(false, std::memory_order_release);
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  static constexpr int kChunkBits = 16;
  static_assert(kMostChunks >> kChunkBits == 0);

  /// Counts the threads that are inside loops.
  struct Visit {
    explicit Visit(std::atomic<int>& count) : count(count) {
      count.fetch_add(1, std::memory_order_relaxed);
    }
    ~Visit() {
      count.fetch_sub(1, std::memory_order_relaxed);
    }
    std::atomic<int>& count;
  };

  /// A chunk that nobody else has, or -1.
  int take() {
    constexpr std::uint64_t mask = (std::uint64_t{1} << kChunkBits) - 1;
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while ((ticket & mask) != 0) {
      if (ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return static_cast<int>(ticket & mask) - 1;
      }
    }
    return -1;
  }

  /// Runs chunks while there are any and `may_go_on()`.
  template <class MayGoOn>
  void work(const MayGoOn& may_go_on) {
    while (may_go_on()) {
      const int chunk = take();
      if (chunk < 0) {
        return;
      }
      const int chunks = loop_.chunks;
      try {
        loop_.run(chunk);
      } catch (...) {
        if (!failed_.test_and_set()) {
          error_ = std::current_exception();
        }
      }
      // Afterwards the loop may be over: nothing of it is touched.
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) {
        done_.notify_one();
      }
    }
  }

  void wait_for(int chunks) {
    for (int i = 0; i < kWatchForEnd && done_.load(std::memory_order_acquire) != chunks; ++i) {
      pause();
    }
    for (int done = done_.load(std::memory_order_acquire); done != chunks;
         done = done_.load(std::memory_order_acquire)) {
      done_.wait(done, std::memory_order_acquire);
    }
  }

  void serve() {
    std::uint32_t seen = 0;
    while (true) {
      {
        // With every chunk it is asked anew: callers that came meanwhile run their loops themselves.
        const Visit helper(inside_);
        work([this] { return inside_.load(std::memory_order_relaxed) <= limit_.load(std::memory_order_relaxed); });
      }
      for (int i = 0; i < kWatchForLoop && posted_.load(std::memory_order_acquire) == seen; ++i) {
        pause();
      }
      posted_.wait(seen, std::memory_order_seq_cst);
      seen = posted_.load(std::memory_order_acquire);
    }
  }

  void wake(int count) {
    if (count >= workers_) {
      posted_.notify_all();
      return;
    }
    for (int i = 0; i < count; ++i) {
      posted_.notify_one();
    }
  }

  // The caller has the pool, so one thread at a time comes here.
  void start_workers(int count) {
    count = std::min(count, most_workers_);
    if (workers_ >= count) {
      return;
    }
    // Signals are the program's: its own threads shall get them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; workers_ < count; ++workers_) {
        // Never joined: they sleep when the process ends, and static destructors may still run loops.
        std::thread([this] { serve(); }).detach();
      }
    } catch (const std::system_error&) {
      // A limit of the system: those that are there will do, the caller being one of them.
      most_workers_ = workers_;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ParallelLoop loop_{};
  std::exception_ptr error_;
  std::atomic_flag failed_ = ATOMIC_FLAG_INIT;
  std::uint64_t number_ = 0;
  int workers_ = 0;
  int most_workers_ = kMostChunks;
  std::atomic<bool> taken_{false};
  std::atomic<int> limit_{1};
  std::atomic<int> inside_{0};
  // Apart from each other: many threads write them.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<int> done_{0};
  alignas(64) std::atomic<std::uint32_t> posted_{0};
};

} // namespace

void run_on_pool(const ParallelLoop& loop, int limit) {
  static Pool& pool = *new Pool;
  pool.run(loop, limit);
}

} // namespace at::internal
