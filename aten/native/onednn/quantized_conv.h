#pragma once
// Convolutions of bytes by oneDNN, where its sums are exact.

#include <aten/core/Tensor.h>
#include <aten/quantized/image_columns.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace at::native::onednn {

/// A weight of int8, and the primitives for the images that it has met.
class QuantizedConvolution {
 public:
  /// One call: dst = round(factor * (sum + bias / both)) + dst_zero for each output channel, in bytes, with sums of
  /// (byte - src_zero) * weight, where both = weight scale * src_scale and factor = both / dst_scale.
  struct Call {
    const uint8_t* src; // [batch, depth, height, width, channels]
    uint8_t* dst; // the same of the outputs
    int64_t batch;
    const quantized::ImageAxis* axes; // 3
    int64_t src_zero, dst_zero;
    bool relu;
    double src_scale, dst_scale;
  };

  /// `weight`: int8 [groups, outputs, depth, height, width, inputs] of each group, where depth is 1 if there are two
  /// spatial dimensions. `scales`, of one element or one for each output, and `bias`, which may be undefined, are
  /// float32.
  QuantizedConvolution(Tensor weight, Tensor scales, Tensor bias, int64_t spatial_dims);
  ~QuantizedConvolution();

  /// Whether this processor has instructions for exact sums of bytes, and this oneDNN is of version 2.
  static bool available();
  /// Computes all images, on the library's threads. False if oneDNN has no kernel for it; nothing is written then.
  bool run(const Call& call) const;

 private:
  struct Cache;
  Tensor weight_, scales_, bias_;
  int64_t spatial_dims_;
  std::unique_ptr<Cache> cache_;
};

} // namespace at::native::onednn
