// Intel's GPUs, which this library does not run on: programs that ask whether they are there are told so.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>

namespace torch::xpu {

inline size_t device_count() {
  return 0;
}
inline bool is_available() {
  return false;
}
/// Do nothing where no such device is available.
inline void manual_seed(uint64_t /*seed*/) {}
inline void manual_seed_all(uint64_t /*seed*/) {}
[[noreturn]] inline void synchronize(int64_t /*device_index*/) {
  TORCH_CHECK(false, "torch::xpu::synchronize: no XPU device is available; ask is_available()");
}

} // namespace torch::xpu
