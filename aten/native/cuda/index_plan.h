// Walks of gather and scatter as the host sees them, and how they are cut into launches. No CUDA needed, so that it is
// tested everywhere.
#pragma once

#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace at::native::cuda {

using c10::DimVector;

/// TensorTuple3 operands side by side: plain elements, an indexed tensor without its indexed dimension, and the index.
/// Dimensions slowest first; strides count elements.
struct Walk {
  const char* op;
  DimVector sizes, plain, indexed, index_strides;
  int64_t size, step; // of the indexed dimension
  bool wrap = false; // negative indices count from the end
  int64_t skip = INT64_MIN; // an index to pass over
  int64_t dim = -1; // the number of the indexed dimension, for messages
  const char* argument = "index"; // that has the index

  /// A further index, of another dimension of the indexed tensor. Its negative values count from the end.
  struct Other {
    const int64_t* data;
    DimVector strides;
    int64_t size, step, dim;
    int64_t first = 0; // where a part begins
  };
  std::vector<Other> others = {};
};

/// What one launch reaches by 32-bit numbers. Tests ask for less.
struct LaunchReach {
  int64_t elements = INT32_MAX;
  int64_t offset = UINT32_MAX; // from the first element of an operand to its last
};

/// A box of a walk that one launch reaches, and where it begins in each operand.
struct WalkPart {
  Walk walk;
  int64_t plain = 0, indexed = 0, index = 0;
};

/// Whether the elements that go to one place must come in their own order.
enum class WalkOrder { Any, OfElements };

/// The same walk with as few dimensions as possible, in any order with those of `plain` as they lie in memory.
Walk simplified(const Walk& w, WalkOrder order);

/// Where elements of `itemsize` bytes are only moved and rows of them lie side by side: makes `w`, simplified, one over
/// words of up to 16 bytes, and returns their size.
std::size_t widen_to_words(Walk& w, std::size_t itemsize, const void* plain, const void* indexed);

/// use(part) for the parts of a walk, one after the other: one, but where it has more elements than a launch reaches.
void each_part(const Walk& w, WalkOrder order, const LaunchReach& reach, c10::function_ref<void(const WalkPart&)> use);

/// The same walk with elements for the one value that a fill places everywhere, so that words can be made of them.
Walk filling(const Walk& w);

/// Of all dimensions together.
int64_t elements_of(const Walk& w);

} // namespace at::native::cuda
