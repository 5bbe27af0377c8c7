#include <csrc/compile/cpu/code_memory.h>

#include <c10/util/Exception.h>

#include <cstring>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace torch::fused::cpu {

namespace {

#if defined(__linux__)

constexpr size_t kChunk = size_t{1} << 20, kMostChunks = 32, kAlignment = 64;

/// A piece of memory with its two addresses.
struct Chunk {
  char* writable = nullptr;
  const char* runnable = nullptr;
  size_t used = kChunk;
};

bool map_chunk(Chunk& chunk) {
  const int file = memfd_create("tensor_code", MFD_CLOEXEC);
  if (file < 0) {
    return false;
  }
  void *writable = MAP_FAILED, *runnable = MAP_FAILED;
  if (ftruncate(file, kChunk) == 0) {
    writable = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    runnable = mmap(nullptr, kChunk, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  }
  close(file);
  if (writable == MAP_FAILED || runnable == MAP_FAILED) {
    if (writable != MAP_FAILED) {
      munmap(writable, kChunk);
    }
    if (runnable != MAP_FAILED) {
      munmap(runnable, kChunk);
    }
    return false;
  }
  chunk = {static_cast<char*>(writable), static_cast<const char*>(runnable), 0};
  return true;
}

#endif

} // namespace

const void* place_code(const std::vector<uint8_t>& code) {
#if defined(__linux__)
  static std::mutex mutex;
  static Chunk chunk;
  static size_t chunks = 0;
  static bool is_refused = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (is_refused || code.size() > kChunk) {
    return nullptr;
  }
  if (chunk.used + code.size() > kChunk) {
    if (chunks == kMostChunks || !map_chunk(chunk)) {
      is_refused = true;
      if (chunks == 0) {
        TORCH_WARN("compile: the system gives no memory for machine code; loops run without");
      }
      return nullptr;
    }
    ++chunks;
  }
  const char* const place = chunk.runnable + chunk.used;
  std::memcpy(chunk.writable + chunk.used, code.data(), code.size());
  chunk.used += (code.size() + kAlignment - 1) / kAlignment * kAlignment;
  return place;
#else
  static_cast<void>(code);
  return nullptr;
#endif
}

} // namespace torch::fused::cpu
