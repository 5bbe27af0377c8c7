// A bound on what a process may map from here on, so that memory ends soon: containers then throw std::bad_alloc, as
// they do when a machine is full.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace fuzz {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitMemory = false; // the sanitizers reserve terabytes
#else
constexpr bool kCanLimitMemory = true;
#endif

/// While it lives, the process may map this much more than it has. Does nothing under sanitizers.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t more) {
    if (!kCanLimitMemory || ::getrlimit(RLIMIT_AS, &before_) != 0) {
      return;
    }
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(before_.rlim_cur, mapped() + more);
    is_set_ = ::setrlimit(RLIMIT_AS, &limit) == 0;
  }
  ~MemoryLimit() {
    if (is_set_) {
      ::setrlimit(RLIMIT_AS, &before_);
    }
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  /// Bytes of addresses in use.
  static rlim_t mapped() {
    unsigned long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%lu", &pages) != 1) {
        pages = 0;
      }
      std::fclose(file);
    }
    return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  }

  rlimit before_{};
  bool is_set_ = false;
};

} // namespace fuzz
