// Brings elements that lie apart side by side.
#pragma once

#include <csrc/compile/layout.h>

#include <cstdint>

namespace torch::fused {

/// The elements that turns [start, start + n) of a loop find, side by side at `to`. `base` is the first of the buffer,
/// `size` the bytes of an element: 1, 2, 4 or 8.
void gather(const Access& access, int64_t size, const char* base, int64_t start, int64_t n, char* to);
/// n copies of an element.
void fill(int64_t size, const char* element, int64_t n, char* to);
/// Each of n elements `times` times.
void repeat_each(int64_t size, const char* from, int64_t n, int64_t times, char* to);

} // namespace torch::fused
