#pragma once
// A convolution as numbers, and the own kernels: for dtypes that oneDNN lacks and kernels of one element (bodies in
// conv.cpp), for small ones (conv_shifted.cpp), and for depthwise ones (depthwise.cpp).

#include <c10/core/ScalarType.h>

#include <array>
#include <cstdint>

namespace at::native {

/// A plain convolution from an image of `in_channels` to one of `out_channels`. A transposed convolution is the
/// backward pass of a plain one: there its result is the image, and its input has the out channels.
/// Missing spatial dimensions stand in front, with size 1.
struct ConvProblem {
  c10::ScalarType dtype;
  int dims = 0; // spatial dimensions of the tensors
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};

  static int64_t product(const std::array<int64_t, 3>& a) {
    return a[0] * a[1] * a[2];
  }
  int64_t in_size() const {
    return product(in);
  }
  int64_t out_size() const {
    return product(out);
  }
  int64_t kernel_size() const {
    return product(kernel);
  }
  /// A kernel of one element that touches each pixel once: then an image is a matrix, and its convolution a product.
  bool is_product() const {
    return kernel_size() == 1 && in == out && padding == std::array<int64_t, 3>{0, 0, 0};
  }
};

#define LT_DECLARE_CONV_KERNELS(level)                                                                                 \
  namespace level {                                                                                                    \
  void conv_forward_columns(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst);   \
  void conv_backward_data_columns(const ConvProblem& p, const void* dst, const void* weight, void* src);               \
  void conv_backward_weight_columns(const ConvProblem& p, const void* src, const void* dst, void* weight);             \
  /* Of Float or Double in plain layouts. False, with nothing written, where the problem is not small. */              \
  bool conv_forward_shifted(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst);   \
  void conv_depthwise_forward(const ConvProblem& p, const void* src, const void* weight, const void* bias, void* dst); \
  void conv_depthwise_backward_data(const ConvProblem& p, const void* dst, const void* weight, void* src);             \
  void conv_depthwise_backward_weight(const ConvProblem& p, const void* src, const void* dst, void* weight);           \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_CONV_KERNELS(v2)
LT_DECLARE_CONV_KERNELS(v3)
LT_DECLARE_CONV_KERNELS(v4)
#endif
#undef LT_DECLARE_CONV_KERNELS

} // namespace at::native
