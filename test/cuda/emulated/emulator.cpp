#include "test/cuda/emulated/emulator.h"

#include <ucontext.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace emulator {

long atomics = 0;

Position thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr std::size_t kStack = 128 * 1024;
constexpr unsigned kMostThreads = 1024, kWarp = 32;
constexpr unsigned char kUnwritten = 0xff, kBeside = 0xa5;

enum class State { kReady, kAtWarpBarrier, kAtBarrier, kDone };

struct Copy {
  void* to;
  const void* from; // null: zeros
  std::size_t bytes;
  unsigned group;
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  State state = State::kDone;
  std::vector<Copy> copies;
  unsigned groups = 0; // ended
};

std::vector<Fiber>& fibers() {
  static std::vector<Fiber> all(kMostThreads);
  return all;
}

ucontext_t scheduler;
unsigned running = 0;
const std::function<void()>* body = nullptr;
std::uint32_t mail[kMostThreads];

// The arrays of shared memory that the running block has entered.
struct SharedArray {
  const unsigned char* memory;
  std::size_t bytes;
};
std::vector<SharedArray> shared_arrays;
std::uint64_t running_block = 0;

// Numbers in the order in which a launch takes them.
class Order {
 public:
  explicit Order(unsigned launch) : engine_(launch) {
    static const char* const chosen = std::getenv("TENSOR_EMULATOR_ORDER");
    const std::string name = chosen != nullptr ? chosen
        : launch % 3 == 0                      ? "shuffled"
        : launch % 3 == 1                      ? "reverse"
                                               : "forward";
    if (name != "forward" && name != "reverse" && name != "shuffled") {
      throw std::invalid_argument("TENSOR_EMULATOR_ORDER is forward, reverse or shuffled, not " + name);
    }
    reverse_ = name == "reverse";
    shuffled_ = name == "shuffled";
  }

  std::vector<unsigned> of(unsigned count) {
    std::vector<unsigned> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    if (reverse_) {
      std::reverse(numbers.begin(), numbers.end());
    } else if (shuffled_) {
      std::shuffle(numbers.begin(), numbers.end(), engine_);
    }
    return numbers;
  }

 private:
  std::minstd_rand engine_;
  bool reverse_ = false, shuffled_ = false;
};

void run_thread() {
  (*body)();
  fibers()[running].state = State::kDone;
}

void resume(unsigned t) {
  running = t;
  thread_index = {t % block_size.x, t / block_size.x % block_size.y, t / (block_size.x * block_size.y)};
  swapcontext(&scheduler, &fibers()[t].context);
  if (fibers()[t].state == State::kDone && !fibers()[t].copies.empty()) {
    throw std::logic_error("a thread left before its copies to shared memory were done");
  }
}

// Whether any of these threads is in `state`.
bool any(unsigned first, unsigned last, State state) {
  return std::any_of(&fibers()[first], &fibers()[last - 1] + 1, [&](const Fiber& f) { return f.state == state; });
}

void release(unsigned first, unsigned last) {
  for (unsigned t = first; t < last; ++t) {
    fibers()[t].state = fibers()[t].state == State::kDone ? State::kDone : State::kReady;
  }
}

// Until all lanes are done or wait at a barrier of the block.
void run_warp(unsigned first, unsigned last, const std::vector<unsigned>& lanes) {
  while (any(first, last, State::kReady)) {
    for (const unsigned lane : lanes) {
      if (first + lane < last && fibers()[first + lane].state == State::kReady) {
        resume(first + lane);
      }
    }
    if (any(first, last, State::kAtWarpBarrier)) {
      if (any(first, last, State::kDone) || any(first, last, State::kAtBarrier)) {
        throw std::logic_error("lanes of a warp wait for one that has left or that waits for the whole block");
      }
      release(first, last);
    }
  }
}

void check_shared_arrays() {
  for (const SharedArray& array : shared_arrays) {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (array.memory[i] != kBeside || array.memory[kGuard + array.bytes + i] != kBeside) {
        throw std::logic_error(
            "a thread wrote beside an array of shared memory of " + std::to_string(array.bytes) + " bytes");
      }
    }
  }
}

void run_block(unsigned threads, Order& order) {
  ++running_block;
  shared_arrays.clear();
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = fibers()[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler;
    fiber.state = State::kReady;
    fiber.copies.clear();
    fiber.groups = 0;
    makecontext(&fiber.context, run_thread, 0);
  }
  const std::vector<unsigned> warps = order.of((threads + kWarp - 1) / kWarp), lanes = order.of(kWarp);
  while (any(0, threads, State::kReady)) {
    for (const unsigned warp : warps) {
      run_warp(warp * kWarp, std::min((warp + 1) * kWarp, threads), lanes);
    }
    release(0, threads);
  }
  check_shared_arrays();
}

void wait(State where) {
  const Position own = thread_index;
  const unsigned number = running;
  fibers()[number].state = where;
  swapcontext(&fibers()[number].context, &scheduler);
  thread_index = own;
}

} // namespace

void check_grid(dim3 blocks, dim3 threads) {
  const unsigned count = threads.x * threads.y * threads.z;
  if (count == 0 || count > kMostThreads || blocks.x == 0 || blocks.y == 0 || blocks.y > 65535 || blocks.z != 1) {
    throw std::invalid_argument("a device would refuse this launch");
  }
}

void check_shared_memory(int bytes) {
  constexpr int kMost = 163 * 1024; // of a block, on sm_80
  if (bytes > kMost) {
    throw std::invalid_argument("a device has not so much shared memory");
  }
}

void launch_grid(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  static unsigned launches = 0;
  const unsigned count = threads.x * threads.y * threads.z;
  Order order(launches++);
  body = &thread;
  block_size = threads;
  grid_size = blocks;
  for (const unsigned y : order.of(blocks.y)) {
    for (const unsigned x : order.of(blocks.x)) {
      block_index = {x, y, 0};
      run_block(count, order);
    }
  }
}

void barrier() {
  wait(State::kAtBarrier);
}

void warp_barrier() {
  wait(State::kAtWarpBarrier);
}

void copy_some_bytes(void* to, const void* from, std::size_t bytes, bool there) {
  if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 ||
      (there && reinterpret_cast<std::uintptr_t>(from) % bytes != 0)) {
    throw std::logic_error("a copy to shared memory of " + std::to_string(bytes) + " bytes that are not aligned");
  }
  Fiber& fiber = fibers()[running];
  fiber.copies.push_back({to, there ? from : nullptr, bytes, fiber.groups});
}

void end_copy_group() {
  ++fibers()[running].groups;
}

namespace {

// The copies of groups below `group`, which are the first ones.
void finish_copies(unsigned group) {
  std::vector<Copy>& copies = fibers()[running].copies;
  std::size_t done = 0;
  for (; done < copies.size() && copies[done].group < group; ++done) {
    const Copy& copy = copies[done];
    copy.from != nullptr ? std::memcpy(copy.to, copy.from, copy.bytes) : std::memset(copy.to, 0, copy.bytes);
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
}

} // namespace

void cp_async_wait_group(unsigned groups) {
  const unsigned ended = fibers()[running].groups;
  finish_copies(ended > groups ? ended - groups : 0);
}

void cp_async_wait_all() {
  finish_copies(UINT_MAX);
}

void enter_shared(unsigned char* memory, std::size_t bytes, std::uint64_t& last_block) {
  if (last_block == running_block) {
    return;
  }
  last_block = running_block;
  std::memset(memory, kBeside, kGuard);
  std::memset(memory + kGuard, kUnwritten, bytes);
  std::memset(memory + kGuard + bytes, kBeside, kGuard);
  shared_arrays.push_back({memory, bytes});
}

std::uint32_t& mailbox(unsigned thread) {
  return mail[thread];
}

unsigned linear_thread() {
  return running;
}

} // namespace emulator
