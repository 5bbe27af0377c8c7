#include "device_memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated {

namespace {

// No containers here: their functions are also in sources that call back with each function they enter.
struct Range {
  void* memory;
  std::size_t size;
};
constexpr int kMostRanges = 1 << 16;
Range ranges[kMostRanges];
int range_count = 0;
int depth = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void permit(int access) {
  static const bool guarded = std::getenv("TENSOR_EMULATOR_GUARD") != nullptr;
  if (!guarded) {
    return;
  }
  for (int i = 0; i < range_count; ++i) {
    if (mprotect(ranges[i].memory, ranges[i].size, access) != 0) {
      std::perror("mprotect of the emulated device's memory");
      std::abort();
    }
  }
}

constexpr std::size_t kPage = 4096;

} // namespace

void* take_device_memory(std::size_t size) {
  size = (size / kPage + 1) * kPage;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  std::memset(memory, 0xee, size);
  pthread_mutex_lock(&mutex);
  const bool there = range_count < kMostRanges;
  if (there) {
    ranges[range_count++] = {memory, size};
  }
  pthread_mutex_unlock(&mutex);
  return there ? memory : nullptr;
}

void give_device_memory_back(void* memory) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].memory == memory) {
      munmap(memory, ranges[i].size);
      ranges[i] = ranges[--range_count];
      break;
    }
  }
  pthread_mutex_unlock(&mutex);
}

} // namespace emulated

extern "C" {

void __cyg_profile_func_enter(void*, void*) {
  pthread_mutex_lock(&emulated::mutex);
  if (emulated::depth++ == 0) {
    emulated::permit(PROT_READ | PROT_WRITE);
  }
  pthread_mutex_unlock(&emulated::mutex);
}

void __cyg_profile_func_exit(void*, void*) {
  pthread_mutex_lock(&emulated::mutex);
  if (--emulated::depth == 0) {
    emulated::permit(PROT_NONE);
  }
  pthread_mutex_unlock(&emulated::mutex);
}

} // extern "C"
