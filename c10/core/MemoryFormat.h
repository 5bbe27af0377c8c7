#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/safe_numerics.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace c10 {

/// The order of dimensions in memory a dense tensor has or is asked to have.
enum class MemoryFormat : int8_t {
  Contiguous, // the last dimension varies fastest
  Preserve, // as the input is
  ChannelsLast, // NHWC for sizes N, C, H, W
  ChannelsLast3d, // NDHWC for sizes N, C, D, H, W
  NumOptions
};

/// What functions assume when no format is asked for.
inline MemoryFormat get_contiguous_memory_format() {
  return MemoryFormat::Contiguous;
}

C10_API std::ostream& operator<<(std::ostream& stream, MemoryFormat memory_format);

/// Strides of a channels-last tensor; C,H,W or N,C,H,W.
template <typename T>
inline std::vector<T> get_channels_last_strides_2d(ArrayRef<T> sizes) {
  std::vector<T> strides(sizes.size());
  TORCH_INTERNAL_ASSERT(sizes.size() == 3 || sizes.size() == 4, "ChannelsLast2d doesn't support size ", sizes.size());
  const size_t c = sizes.size() - 3;
  strides[c] = 1;
  strides[c + 2] = sizes[c];
  strides[c + 1] = strides[c + 2] * sizes[c + 2];
  if (sizes.size() == 4) {
    strides[0] = strides[c + 1] * sizes[c + 1];
  }
  return strides;
}
C10_API std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes);

/// The same for C,D,H,W or N,C,D,H,W.
template <typename T>
inline std::vector<T> get_channels_last_strides_3d(ArrayRef<T> sizes) {
  std::vector<T> strides(sizes.size());
  TORCH_INTERNAL_ASSERT(sizes.size() == 4 || sizes.size() == 5, "ChannelsLast3d doesn't support size ", sizes.size());
  const size_t c = sizes.size() - 4;
  strides[c] = 1;
  strides[c + 3] = sizes[c];
  strides[c + 2] = strides[c + 3] * sizes[c + 3];
  strides[c + 1] = strides[c + 2] * sizes[c + 2];
  if (sizes.size() == 5) {
    strides[0] = strides[c + 1] * sizes[c + 1];
  }
  return strides;
}
C10_API std::vector<int64_t> get_channels_last_strides_3d(IntArrayRef sizes);

namespace detail {

// Note [Ambiguous channels-last strides]
// Sizes of one make strides ambiguous: N,1,H,W with the strides of a contiguous tensor is also channels-last. The walk
// goes from the dimension that should vary fastest (channels) over the spatial ones, last to first, to the batch, and
// wants strides that never shrink and step over the dimension before. Two rules settle the ambiguous cases. Channels of
// stride 0 are not channels-last. A tensor whose batch stride equals its channel stride is one that was contiguous (an
// N111 slice, or N11W made by expanding), so it is not either. Overlapping tensors may pass: this is about order.
template <typename T>
bool strides_look_channels_last(ArrayRef<T> sizes, ArrayRef<T> strides, const int* order, size_t count) {
  T min = 0;
  if (strides[1] == 0) {
    return false;
  }
  for (size_t k = 0; k < count; ++k) {
    const auto d = static_cast<size_t>(order[k]);
    if (sizes[d] == 0 || strides[d] < min) {
      return false;
    }
    if (d == 0 && min == strides[1]) {
      return false;
    }
    min = strides[d];
    if (sizes[d] > 1) {
      min = impl::multiply_wrapping(min, sizes[d]);
    }
  }
  return true;
}

} // namespace detail

template <typename T>
inline bool is_channels_last_strides_2d_s4(ArrayRef<T> sizes, ArrayRef<T> strides) {
  constexpr int kOrder[] = {1, 3, 2, 0};
  return detail::strides_look_channels_last(sizes, strides, kOrder, 4);
}
template <typename T>
inline bool is_channels_last_strides_3d_s5(ArrayRef<T> sizes, ArrayRef<T> strides) {
  constexpr int kOrder[] = {1, 4, 3, 2, 0};
  return detail::strides_look_channels_last(sizes, strides, kOrder, 5);
}

/// Whether strides order a 4-d tensor as channels-last; see Note [Ambiguous channels-last strides].
template <typename T>
inline bool is_channels_last_strides_2d(ArrayRef<T> sizes, ArrayRef<T> strides) {
  return sizes.size() == 4 && is_channels_last_strides_2d_s4(sizes, strides);
}
inline bool is_channels_last_strides_2d(IntArrayRef sizes, IntArrayRef strides) {
  return is_channels_last_strides_2d<int64_t>(sizes, strides);
}
/// The same for a 5-d tensor.
template <typename T>
inline bool is_channels_last_strides_3d(ArrayRef<T> sizes, ArrayRef<T> strides) {
  return sizes.size() == 5 && is_channels_last_strides_3d_s5(sizes, strides);
}
inline bool is_channels_last_strides_3d(IntArrayRef sizes, IntArrayRef strides) {
  return is_channels_last_strides_3d<int64_t>(sizes, strides);
}

} // namespace c10
