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
  char* memory;
  std::size_t size;
  cudaMemoryType type;
  int device;
};
constexpr int kMostRanges = 1 << 16;
constexpr std::size_t kPage = 4096;

Range ranges[kMostRanges];
int range_count = 0;
std::size_t taken[8] = {}; // bytes, by device
int depth = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct Lock {
  Lock() {
    pthread_mutex_lock(&mutex);
  }
  ~Lock() {
    pthread_mutex_unlock(&mutex);
  }
};

void permit(int access) {
  static const bool guarded = std::getenv("TENSOR_EMULATOR_GUARD") != nullptr;
  if (!guarded) {
    return;
  }
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].type == cudaMemoryTypeDevice && mprotect(ranges[i].memory, ranges[i].size, access) != 0) {
      std::perror("mprotect of the emulated device's memory");
      std::abort();
    }
  }
}

/// Room for it, in the table and on the device; under the lock.
bool add_range(char* memory, std::size_t size, cudaMemoryType type, int device) {
  const bool counts = type == cudaMemoryTypeDevice;
  if (range_count == kMostRanges || (counts && size > kDeviceBytes - taken[device])) {
    return false;
  }
  taken[device] += counts ? size : 0;
  ranges[range_count++] = {memory, size, type, device};
  return true;
}

/// The bytes of a range that is known no more; 0 where there is none.
std::size_t remove_range(const void* memory) {
  for (int i = 0; i < range_count; ++i) {
    if (ranges[i].memory == memory) {
      const std::size_t size = ranges[i].size;
      taken[ranges[i].device] -= ranges[i].type == cudaMemoryTypeDevice ? size : 0;
      ranges[i] = ranges[--range_count];
      return size;
    }
  }
  return 0;
}

char* map(std::size_t size, int access) {
  void* const memory = mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? static_cast<char*>(memory) : nullptr;
}

} // namespace

void* take_memory(std::size_t size, cudaMemoryType type, int device) {
  const Lock lock;
  if (size > kDeviceBytes) {
    return nullptr;
  }
  size = (size / kPage + 1) * kPage;
  char* const memory = map(size, PROT_READ | PROT_WRITE);
  if (memory == nullptr || !add_range(memory, size, type, device)) {
    if (memory != nullptr) {
      munmap(memory, size);
    }
    return nullptr;
  }
  std::memset(memory, 0xee, size);
  return memory;
}

void give_memory_back(void* memory) {
  const Lock lock;
  if (const std::size_t size = remove_range(memory); size != 0) {
    munmap(memory, size);
  }
}

cudaMemoryType type_of_memory(const void* pointer, int* device) {
  const Lock lock;
  const auto* const place = static_cast<const char*>(pointer);
  for (int i = 0; i < range_count; ++i) {
    if (place >= ranges[i].memory && place < ranges[i].memory + ranges[i].size) {
      *device = ranges[i].device;
      return ranges[i].type;
    }
  }
  return cudaMemoryTypeUnregistered;
}

std::size_t device_bytes_taken(int device) {
  const Lock lock;
  return taken[device];
}

void* reserve_addresses(std::size_t size) {
  return map(size, PROT_NONE);
}

void release_addresses(void* addresses, std::size_t size) {
  munmap(addresses, size);
}

bool take_pages(void* address, std::size_t size, int device) {
  const Lock lock;
  if (!add_range(static_cast<char*>(address), size, cudaMemoryTypeDevice, device)) {
    return false;
  }
  mprotect(address, size, PROT_READ | PROT_WRITE);
  std::memset(address, 0xee, size);
  return true;
}

void give_pages_back(void* address, std::size_t size) {
  const Lock lock;
  remove_range(address);
  mprotect(address, size, PROT_NONE);
  madvise(address, size, MADV_DONTNEED);
}

} // namespace emulated

extern "C" {

void __cyg_profile_func_enter(void*, void*) {
  const emulated::Lock lock;
  if (emulated::depth++ == 0) {
    emulated::permit(PROT_READ | PROT_WRITE);
  }
}

void __cyg_profile_func_exit(void*, void*) {
  const emulated::Lock lock;
  if (--emulated::depth == 0) {
    emulated::permit(PROT_NONE);
  }
}

} // extern "C"
