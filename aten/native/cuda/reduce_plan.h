// How a reduction on the GPU walks its input and cuts its work into blocks. Plain data for kernels; no CUDA needed, so
// that it is tested everywhere.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace at {
class TensorBase;
}

namespace at::native::cuda {

/// What one launch does. Offsets count elements. Output o reads the inputs at `in_first + kept.get(o).of[0] +
/// reduced.get(i).of[0]` for i < length and goes to `out_first + kept.get(o).of[1]`. Where `width` elements of an
/// output are read at once, `reduced` counts such groups.
struct ReducePlan {
  std::int64_t in_first = 0, out_first = 0;
  std::int64_t index_first = 0; // number of the first element among all that are reduced
  std::uint32_t outputs = 1;
  std::uint32_t length = 1;
  bool along_rows = true; // the elements of one output lie closer together than outputs do
  // Elements that lie side by side, aligned, and are read at once: of one output if along_rows, else of so many
  // outputs.
  std::uint32_t width = 1;
  OffsetCalculator<2> kept;
  OffsetCalculator<1> reduced;
};
using ReducePlans = c10::SmallVector<ReducePlan, 1>;

/// The threads of a reduction: x runs along what lies close together in memory, y along the other; `splits` blocks
/// share the elements of an output, and a second launch combines their results.
struct ReduceLaunch {
  std::uint32_t x, y;
  std::uint32_t blocks;
  std::uint32_t splits;
};

/// Plans for reducing the masked dimensions of `self`, which has elements, into `out` (with or without kept size-1
/// dimensions). With `in_order`, i counts the reduced elements as the logical order does. Where 32-bit offsets do not
/// reach there are several; those of the same outputs have the same out_first and follow each other. Tests set `most`,
/// the outputs and elements of a plan.
ReducePlans plan_reduction(
    const TensorBase& self,
    const std::bitset<64>& mask,
    const TensorBase& out,
    bool in_order,
    int64_t most = INT32_MAX);
ReducePlans plan_reduction(
    IntArrayRef sizes,
    IntArrayRef strides,
    const std::bitset<64>& mask,
    IntArrayRef out_strides,
    bool in_order,
    int64_t most = INT32_MAX);

inline constexpr int kOutputsAtOnce = 4;

/// Sets how many floating elements of `itemsize` (2 or 4) bytes are read at once: 16 bytes of one output, or an element
/// of kOutputsAtOnce outputs. 1 where they do not lie so. `data` is where the input begins.
void read_vectors(ReducePlan& plan, const void* data, std::size_t itemsize);

ReduceLaunch launch_of(const ReducePlan& plan, int multiprocessors);

} // namespace at::native::cuda
