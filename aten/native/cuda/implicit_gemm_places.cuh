// Where rows, columns and depths of the product lie (Note [Convolution as a product]).
#pragma once

#include <aten/native/cuda/implicit_gemm.h>
#include <aten/native/cuda/index_decompose.cuh>

#include <cstdint>

namespace at::native::cuda::implicit_gemm {

/// A coordinate that is outside of each image, whatever is added: coordinates are between -2^30 and 2^30.
inline constexpr int kNowhere = -(1 << 30);

/// A part of a position in the windowed tensor: rows and depth give one each, whose sum it is.
struct Place {
  std::int64_t offset;
  int at[3];
};

/// A dimension, in one phase.
struct PhaseDim {
  int taps, first_tap;
  int start, step; // in the windowed tensor: of pixel 0, to the next pixel
  int first_pixel, pixel_step; // in the tensor that has the pixels
};

__device__ inline PhaseDim phase_of(const GemmDim& d, bool to_image, int phase) {
  if (!to_image) {
    return {d.kernel, 0, -d.padding, d.stride, 0, 1};
  }
  const int candidates = d.tap_step < d.kernel ? d.tap_step : d.kernel;
  for (int first = 0; first < candidates; ++first) {
    const int place = phase + d.padding - first * d.dilation;
    if (place % d.stride == 0) {
      return {(d.kernel - first - 1) / d.tap_step + 1, first, place / d.stride, 1, phase, d.stride};
    }
  }
  return {0, 0, 0, 1, phase, d.stride};
}

/// Where things lie for a tile of the result. Pixels are written (image, 3 coordinates), taps (3 coordinates, channel)
/// or (channel, 3 coordinates).
template <bool kToWeight>
struct Places {
  const ImplicitGemm& p;
  PhaseDim dim[3];
  Radix pixels, taps;

  __device__ Places(const ImplicitGemm& p, std::uint32_t phase) : p(p) {
    pixels.of[0] = p.batch;
    const int first = p.taps_fastest ? 1 : 0;
#pragma unroll
    for (int i = 2; i >= 0; --i) {
      const auto phases = static_cast<std::uint32_t>(p.dim[i].phases);
      dim[i] = phase_of(p.dim[i], !kToWeight && p.to_image, static_cast<int>(phase % phases));
      phase /= phases;
      pixels.of[i + 1] = p.dim[i].pixels;
    }
    taps.of[0] = first != 0 ? p.channels : dim[0].taps;
    taps.of[1] = first != 0 ? dim[0].taps : dim[1].taps;
    taps.of[2] = first != 0 ? dim[1].taps : dim[2].taps;
    taps.of[3] = first != 0 ? dim[2].taps : p.channels;
  }

  __device__ int channel(const Digits& tap) const {
    return p.taps_fastest ? tap.x[0] : tap.x[3];
  }
  __device__ int tap(const Digits& tap, int i) const {
    return p.taps_fastest ? tap.x[i + 1] : tap.x[i];
  }
  __device__ std::int64_t tap_numbers() const {
    return std::int64_t{p.channels} * dim[0].taps * dim[1].taps * dim[2].taps;
  }
  __device__ std::int64_t pixel_numbers() const {
    return std::int64_t{p.batch} * p.dim[0].pixels * p.dim[1].pixels * p.dim[2].pixels;
  }

  /// In the windowed tensor.
  __device__ Place of_pixel(const Digits& d) const {
    Place place;
    place.offset = d.x[0] * p.windowed.batch;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      place.at[i] = d.x[i + 1] * dim[i].step + dim[i].start;
      place.offset += place.at[i] * p.windowed.of[i];
    }
    return place;
  }
  __device__ Place of_tap(const Digits& d) const {
    Place place;
    place.offset = channel(d) * p.windowed.channel;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      place.at[i] = tap(d, i) * p.dim[i].tap_move;
      place.offset += place.at[i] * p.windowed.of[i];
    }
    return place;
  }
  __device__ bool inside(const int (&one)[3], const int (&other)[3]) const {
    // Without branches.
    return (static_cast<unsigned>(one[0] + other[0]) < static_cast<unsigned>(p.dim[0].windowed)) &
        (static_cast<unsigned>(one[1] + other[1]) < static_cast<unsigned>(p.dim[1].windowed)) &
        (static_cast<unsigned>(one[2] + other[2]) < static_cast<unsigned>(p.dim[2].windowed));
  }
  /// Of a row.
  __device__ Place of_row(std::int64_t row) const {
    Place place = kToWeight ? of_tap(taps.digits(row)) : of_pixel(pixels.digits(row));
    place.at[0] = row < p.rows ? place.at[0] : kNowhere;
    return place;
  }

  // Of a position of the depth.
  __device__ const Radix& depth() const {
    return kToWeight ? pixels : taps;
  }
  __device__ Place of_depth(const Digits& d) const {
    return kToWeight ? of_pixel(d) : of_tap(d);
  }
  /// In the other operand.
  __device__ std::int64_t depth_offset(const Digits& d) const {
    return kToWeight ? pixel_offset(d) : weight_offset(d);
  }
  /// A column, in the other operand.
  __device__ std::int64_t column_offset(int column) const {
    return column * (kToWeight ? p.pixels.channel : p.weight.column);
  }

  /// In the tensor that has the pixels.
  __device__ std::int64_t pixel_offset(const Digits& d) const {
    std::int64_t offset = d.x[0] * p.pixels.batch;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      offset += pixel_at(d, i) * p.pixels.of[i];
    }
    return offset;
  }
  __device__ int pixel_at(const Digits& d, int i) const {
    return kToWeight ? d.x[i + 1] : dim[i].first_pixel + d.x[i + 1] * dim[i].pixel_step;
  }
  /// The last pixels of a phase may be beyond the tensor.
  __device__ bool has_pixel(const Digits& d) const {
    return pixels.contains(d) && pixel_at(d, 0) < p.dim[0].size && pixel_at(d, 1) < p.dim[1].size &&
        pixel_at(d, 2) < p.dim[2].size;
  }
  /// In the weight, from the first tap of this phase on.
  __device__ std::int64_t weight_offset(const Digits& d) const {
    std::int64_t offset = channel(d) * p.weight.channel;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      offset += tap(d, i) * p.dim[i].tap_step * p.weight.of[i];
    }
    return offset;
  }
  /// In the weight, where the taps of this phase begin.
  __device__ std::int64_t first_tap_offset() const {
    return dim[0].first_tap * p.weight.of[0] + dim[1].first_tap * p.weight.of[1] + dim[2].first_tap * p.weight.of[2];
  }

  /// Where a row and a column of the result are written: the sum, if neither is -1.
  __device__ std::int64_t out_row(std::int64_t row) const {
    if (row >= p.rows) {
      return -1;
    }
    if constexpr (kToWeight) {
      return weight_offset(taps.digits(row));
    } else {
      const Digits d = pixels.digits(row);
      return has_pixel(d) ? pixel_offset(d) : -1;
    }
  }
  __device__ std::int64_t out_column(int column) const {
    return column < p.columns ? column * (kToWeight ? p.weight.column : p.pixels.channel) : -1;
  }
};

/// The number of this block, read anew: what has been computed of it before the main loop is not kept in registers
/// until after it.
__device__ inline std::uint32_t block_number() {
#if defined(__CUDA_ARCH__)
  std::uint32_t number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return number;
#else
  return blockIdx.x;
#endif
}

/// The tile that a block makes.
struct TileNumber {
  std::uint32_t column, row, phase, group, split;

  __device__ TileNumber(const ImplicitGemm& p, std::uint32_t i) {
    column = take(i, p.column_tiles);
    row = take(i, p.row_tiles);
    phase = take(i, p.phases);
    group = take(i, p.groups);
    split = i;
  }

 private:
  static __device__ std::uint32_t take(std::uint32_t& i, int size) {
    const std::uint32_t quotient = i / static_cast<std::uint32_t>(size),
                        rest = i - quotient * static_cast<std::uint32_t>(size);
    i = quotient;
    return rest;
  }
};

template <bool kToWeight>
__device__ inline std::int64_t out_group(const ImplicitGemm& p, std::uint32_t group) {
  return group * (kToWeight ? p.weight.group : p.columns * p.pixels.channel);
}

} // namespace at::native::cuda::implicit_gemm
