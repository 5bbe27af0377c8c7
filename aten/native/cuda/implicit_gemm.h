// Convolution as a product of matrices whose elements are picked from images where they lie (an implicit GEMM): what
// kernels are told. conv_product.cpp fills it from tensors.
//
// Note [Convolution as a product]
// out (rows x columns) = a (rows x depth) b (depth x columns), for each group by itself. A position in a kernel is a
// tap.
//
//   pass      out        rows          columns            depth              a is picked from     b is picked from
//   features  features   its pixels    its channels       taps, channels     the image            the weight
//   image     image      its pixels    its channels       taps, channels     the features         the weight
//   weight    weight     taps, image's features'          pixels of the      the image            the features
//                        channels      channels           features
//
// So a is always picked from a tensor that is looked at through windows ("windowed"): of pixel j and tap t of a
// dimension, it is element j * step + start + t * tap_move, or zero where that is outside of it. The other operand and
// the result are the tensor that has the pixels, and the weight.
//
// On the way back to the image, pixel i meets the window (i + padding - t * dilation) / stride, if the stride divides
// that. Which taps do depends on i % stride, its phase: they are first, first + tap_step, ..., and from pixel to pixel
// of a phase the window moves by one. So each phase is a product like that of the features, with numbers of its own.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// One dimension of a convolution.
struct GemmDim {
  std::int32_t windowed = 1; // size of the windowed tensor
  std::int32_t size = 1; // of the tensor that has the pixels
  std::int32_t pixels = 1; // of one phase
  std::int32_t phases = 1;
  std::int32_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::int32_t tap_step = 1; // to the next tap of a phase
  std::int32_t tap_move = 1; // in the windowed tensor, to the next tap of a phase
};

/// Strides of a batch of images, in elements.
struct GemmImage {
  std::int64_t batch = 0, channel = 0, of[3] = {0, 0, 0};
};

/// Strides of a weight, in elements: to the next group, column, channel of the windowed tensor, and tap.
struct GemmWeight {
  std::int64_t group = 0, column = 0, channel = 0, of[3] = {0, 0, 0};
};

struct ImplicitGemm {
  const void *a, *b;
  void* out;
  const void* bias = nullptr; // a number for each column, or none
  void* parts = nullptr; // if the depth is split: a matrix for each share, in the type of sums
  GemmDim dim[3];
  GemmImage windowed, pixels;
  GemmWeight weight;
  std::int64_t rows;
  std::int32_t batch, groups;
  std::int32_t channels, columns; // of a group
  bool to_image; // pass image
  // The order of numbers of taps and channels. False: channels are fastest.
  bool taps_fastest;
  // Whether neighbouring threads load neighbours of depth. False: rows (columns).
  bool a_by_depth, b_by_depth;
  // Whether neighbouring threads write neighbouring columns. False: rows.
  bool columns_fastest;
  bool wide_out; // results can be written 16 bytes at a time, along columns

  // Blocks: columns are fastest, then rows, phases, groups, shares of the depth.
  std::int32_t column_tiles, row_tiles, phases, splits;
  std::int32_t depth_step[4]; // pass weight: the depth of a tile as an image and coordinates of a pixel
  cudaStream_t stream;

  std::int64_t tiles() const {
    return std::int64_t{column_tiles} * row_tiles * phases * groups;
  }
};

/// Which kernel does it.
struct GemmKind {
  bool to_weight; // pass weight
  bool wide; // operands can be loaded 16 bytes at a time: along depth, in pass weight along rows and columns
  bool large; // tiles of 128 x 128, else 64 x 64
};
constexpr int gemm_tile(bool large) {
  return large ? 128 : 64;
}

// By tensor cores, with float sums.
void launch_half_gemm(const ImplicitGemm& p, GemmKind kind);
void launch_bfloat16_gemm(const ImplicitGemm& p, GemmKind kind);
void launch_tf32_gemm(const ImplicitGemm& p, GemmKind kind);
/// Float, double and complex, by ordinary multiplications; never wide, and large for float alone.
void launch_plain_gemm(const ImplicitGemm& p, c10::ScalarType dtype, GemmKind kind);
/// Adds the shares of the depth, in their order.
void launch_join_parts(const ImplicitGemm& p, c10::ScalarType dtype, GemmKind kind);

} // namespace at::native::cuda
