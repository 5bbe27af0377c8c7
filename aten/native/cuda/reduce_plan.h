// How a reduction on the GPU walks its input and cuts its work into blocks. Plain data for kernels; no CUDA needed, so
// that it is tested everywhere.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <c10/util/ArrayRef.h>

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace at {
class TensorBase;
}

namespace at::native::cuda {

/// Offsets count elements. Output o reads the inputs at `kept.get(o).of[0] + reduced.get(i).of[0]` for i < length and goes
/// to `kept.get(o).of[1]`.
struct ReducePlan {
  std::uint32_t outputs = 1;
  std::uint32_t length = 1;
  bool along_rows = true; // the elements of one output lie closer together than outputs do
  // Elements that lie side by side, aligned, and may be read at once: of one output if along_rows, else of so many outputs.
  std::uint32_t width = 1;
  OffsetCalculator<2> kept;
  OffsetCalculator<1> reduced;
};

/// The threads of a reduction: x runs along what lies close together in memory, y along the other; `splits` blocks share
/// the elements of an output, and a second launch joins their results.
struct ReduceLaunch {
  std::uint32_t x, y;
  std::uint32_t blocks;
  std::uint32_t splits;
};

/// Plan for reducing the masked dimensions of `self`, which has elements, into `out` (with or without kept size-1
/// dimensions). With `in_order`, i counts the reduced elements as the logical order does. Throws when there are more
/// elements than 32-bit offsets reach.
ReducePlan plan_reduction(const TensorBase& self, const std::bitset<64>& mask, const TensorBase& out, bool in_order);
ReducePlan plan_reduction(
    IntArrayRef sizes, IntArrayRef strides, const std::bitset<64>& mask, IntArrayRef out_strides, bool in_order);

inline constexpr int kOutputsAtOnce = 4;

/// How many floating elements of `itemsize` bytes can be read at once: 16 bytes of one output, or an element of kOutputsAtOnce
/// outputs if these are of 16 bits. 1 where they do not lie so.
std::uint32_t reading_width(const ReducePlan& plan, const void* data, std::size_t itemsize);

ReduceLaunch launch_of(const ReducePlan& plan, int multiprocessors);

} // namespace at::native::cuda
