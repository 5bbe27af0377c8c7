// Padding by a constant as the host sees it, and how it is cut into launches. No CUDA needed, so that it is tested
// everywhere.
#pragma once

#include <aten/native/cuda/pad.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// A dimension of the padded tensor, of what is inside, and how far apart elements of either are.
struct PaddedDim {
  std::int64_t size, before, inside, stride, padded_stride;
};
using PaddedDims = c10::SmallVector<PaddedDim, 6>;

/// An element to fill with, and its size.
struct PadValue {
  alignas(16) unsigned char bytes[16];
  std::size_t size;
};

/// As few dimensions as possible, slowest first in the memory of the padded tensor, which has no gaps.
void simplify(PaddedDims& dims);

/// Makes simplified dimensions those of words of up to 16 bytes, where all that is moved is aligned; `value` is
/// repeated.
void widen_to_words(PaddedDims& dims, PadValue& value, const void* inner, const void* padded);

/// What one launch takes. Tests ask for less.
struct PadReach {
  std::int64_t elements = kMostPixels;
  std::size_t dims = kMaxDims;
};
/// use(launch, inner, padded) for the parts, one after the other; elements of `size` bytes.
void each_part(
    const PaddedDims& dims,
    std::size_t size,
    const void* inner,
    void* padded,
    c10::function_ref<void(ConstantPadding&, const void*, void*)> use,
    const PadReach& reach = {});

} // namespace at::native::cuda
