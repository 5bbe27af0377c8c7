// Numbers of autograd nodes, in the order in which a thread makes them.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace at::sequence_number {

namespace impl {
extern TORCH_API __thread uint64_t next __attribute__((tls_model("initial-exec")));
} // namespace impl

/// The number that the next node of this thread gets.
inline uint64_t peek() {
  return impl::next;
}
inline uint64_t get_and_increment() {
  return impl::next++;
}

} // namespace at::sequence_number
