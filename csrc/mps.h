// Apple's GPUs, which this library does not run on: programs that ask whether they are there are told so.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>

namespace torch::mps {

inline bool is_available() {
  return false;
}
/// Does nothing where no such device is available.
inline void manual_seed(uint64_t /*seed*/) {}
[[noreturn]] inline void synchronize() {
  TORCH_CHECK(false, "torch::mps::synchronize: no MPS device is available; ask is_available()");
}
[[noreturn]] inline void commit() {
  TORCH_CHECK(false, "torch::mps::commit: no MPS device is available; ask is_available()");
}

} // namespace torch::mps
