#pragma once
// Packed weights as kernels see them.
//
// Note [Packed weights]
// A weight [outputs, inputs] is cut into panels of 16 outputs. A panel is a row of lines of 64 bytes, along the inputs:
//
//   bits   inputs of a line   word (32 bits) of output r
//   16            2           bfloat16 of inputs 0 and 1
//    8            4           code + 128 of inputs 0 to 3
//    4            8           low halves of the bytes: code + 8 of inputs 0 to 3; high halves: of inputs 4 to 7
//
// One line is one register of AVX-512, two of AVX2 and four of SSE, in which each lane belongs to an output: sums need
// no shuffle, and an activation (or four 8-bit ones) is broadcast to all lanes. The same lines suit vpdpbusd and the
// right factor of AMX tiles, so there is one form for all instruction sets. Missing outputs and inputs have code 0.
//
// `group` adjacent inputs share a scale, and perhaps an offset: an element is scale * code + offset.

#include <cstdint>

namespace at::native {

inline constexpr int64_t kPanelOutputs = 16;
inline constexpr int64_t kLineBytes = 64;
/// Inputs are padded to a multiple of this, which every line divides.
inline constexpr int64_t kInputStep = 8;

struct PackedView {
  int64_t outputs, inputs;
  int bits;
  /// Inputs of a scale; a multiple of kInputStep. The last group may be shorter.
  int64_t group, groups;
  const uint8_t* lines;
  /// [panels][groups][16] of float, or of bfloat16; offsets may be null. Null scales, of 16 bits, are 1.
  const void *scales, *offsets;
  bool wide_scales;

  int64_t panels() const {
    return (outputs + kPanelOutputs - 1) / kPanelOutputs;
  }
  int64_t padded_inputs() const {
    return (inputs + kInputStep - 1) / kInputStep * kInputStep;
  }
  int64_t panel_bytes() const {
    return padded_inputs() * kPanelOutputs * bits / 8;
  }
};

/// Activations of 8 bits: element = scale * code, with codes from -127 to 127 and one scale for each row and group.
struct QuantizedRows {
  /// Rows of padded inputs, of int8_t or of int16_t as kernels of the processor want them, `code_stride` codes apart.
  void* codes;
  int64_t code_stride;
  /// [rows][groups].
  float* scales;
  /// [rows][groups]: sums of the codes.
  int32_t* sums;
};

/// Rows of results, and what is added to each (null, or `outputs` numbers).
struct PackedResult {
  float* data;
  int64_t row_stride;
  const float* bias;
  /// Added to the integer sums of each output, of a weight with one group; null, or [panels][16].
  const int32_t* shifts = nullptr;
};

/// Panels that a task of the product with many rows takes together.
inline constexpr int64_t kTaskPanels = 3;

} // namespace at::native
