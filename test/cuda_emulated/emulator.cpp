#include "test/cuda_emulated/emulator.h"

#include <ucontext.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace emulator {

long atomics = 0;

Position thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr std::size_t kStack = 128 * 1024;
constexpr unsigned kMostThreads = 1024;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  bool done = true;
};

std::vector<Fiber>& fibers() {
  static std::vector<Fiber> all(kMostThreads);
  return all;
}

ucontext_t scheduler;
unsigned running = 0;
const std::function<void()>* body = nullptr;
std::uint32_t mail[kMostThreads];

void run_thread() {
  (*body)();
  fibers()[running].done = true;
}

void run_block(unsigned threads) {
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = fibers()[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler;
    fiber.done = false;
    makecontext(&fiber.context, run_thread, 0);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (fibers()[t].done) {
        continue;
      }
      running = t;
      thread_index = {t % block_size.x, t / block_size.x % block_size.y, t / (block_size.x * block_size.y)};
      swapcontext(&scheduler, &fibers()[t].context);
      any = any || !fibers()[t].done;
    }
  }
}

} // namespace

void launch_grid(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  const unsigned count = threads.x * threads.y * threads.z;
  if (count == 0 || count > kMostThreads || blocks.x == 0 || blocks.y == 0 || blocks.y > 65535 || blocks.z != 1) {
    throw std::invalid_argument("a device would refuse this launch");
  }
  body = &thread;
  block_size = threads;
  grid_size = blocks;
  for (unsigned y = 0; y < blocks.y; ++y) {
    for (unsigned x = 0; x < blocks.x; ++x) {
      block_index = {x, y, 0};
      run_block(count);
    }
  }
}

void barrier() {
  const Position own = thread_index;
  swapcontext(&fibers()[running].context, &scheduler);
  thread_index = own;
}

std::uint32_t& mailbox(unsigned thread) {
  return mail[thread];
}

unsigned linear_thread() {
  return running;
}

} // namespace emulator
