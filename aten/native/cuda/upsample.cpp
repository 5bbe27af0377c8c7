// Host side of upsample.cu; arguments are checked by aten/shape/upsample.cpp.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/upsample.h>
#include <c10/cuda/CUDAStream.h>

#include <initializer_list>
#include <optional>

namespace at::native::cuda {

namespace {

using Scale = std::optional<double>;
using Scales = std::initializer_list<Scale>;

ResizeDim resize_dim(ResizeMode mode, int64_t in, int64_t out, bool align_corners, const Scale& scale) {
  ResizeDim d;
  d.mode = mode;
  d.in = static_cast<std::int32_t>(in);
  d.out = static_cast<std::int32_t>(out);
  d.align_corners = align_corners;
  const auto from = static_cast<double>(in), to = static_cast<double>(out);
  if (align_corners) {
    d.step = out > 1 ? (from - 1) / (to - 1) : 0;
  } else if (mode == ResizeMode::Nearest && (out == in || out == 2 * in)) {
    d.step = from / to; // whatever the scale says
  } else {
    d.step = scale.has_value() && *scale > 0 ? 1.0 / *scale : from / to;
  }
  return d;
}

Resize resize_of(
    const char* op,
    ResizeMode mode,
    const TensorBase& small,
    const TensorBase& result,
    bool align_corners,
    Scales scales) {
  const auto dims = static_cast<int>(scales.size());
  Resize p;
  for (int d = 0; d < dims; ++d) {
    p.dim[3 - dims + d] = resize_dim(mode, small.size(d + 2), result.size(d + 2), align_corners, scales.begin()[d]);
  }
  p.small = image_of(op, small, dims);
  p.result = image_of(op, result, dims);
  p.dtype = small.scalar_type();
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

void resize(
    const char* op, ResizeMode mode, const TensorBase& self, bool align_corners, Scales scales, const TensorBase& out) {
  constexpr auto kDtypes = kFloating | dtype_set<c10::ScalarType::Byte>;
  if (!kDtypes.contains(self.scalar_type())) {
    at::detail::dtype_not_supported(op, self.scalar_type(), kDtypes.bits);
  }
  if (out.numel() != 0) {
    launch_resize(resize_of(op, mode, self, out, align_corners, scales), self.const_data_ptr(), out.mutable_data_ptr());
  }
}

void resize_backward(
    const char* op,
    ResizeMode mode,
    const TensorBase& grad_output,
    bool align_corners,
    Scales scales,
    const TensorBase& grad_input) {
  if (!kFloating.contains(grad_output.scalar_type())) {
    at::detail::dtype_not_supported(op, grad_output.scalar_type(), kFloating.bits);
  }
  if (grad_input.numel() != 0) {
    launch_resize_backward(
        resize_of(op, mode, grad_input, grad_output, align_corners, scales), grad_output.const_data_ptr(),
        grad_input.mutable_data_ptr());
  }
}

} // namespace

void upsample_nearest1d_kernel(
    const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_nearest1d", ResizeMode::Nearest, self, false, {scales}, out);
}
void upsample_nearest1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward("upsample_nearest1d_backward", ResizeMode::Nearest, grad_output, false, {scales}, grad_input);
}

void upsample_nearest2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_nearest2d", ResizeMode::Nearest, self, false, {scales_h, scales_w}, out);
}
void upsample_nearest2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_nearest2d_backward", ResizeMode::Nearest, grad_output, false, {scales_h, scales_w}, grad_input);
}

void upsample_nearest3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_nearest3d", ResizeMode::Nearest, self, false, {scales_d, scales_h, scales_w}, out);
}
void upsample_nearest3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_nearest3d_backward", ResizeMode::Nearest, grad_output, false, {scales_d, scales_h, scales_w},
      grad_input);
}

void upsample_nearest_exact1d_kernel(
    const TensorBase& self, IntArrayRef, std::optional<double> scales, const TensorBase& out) {
  resize("_upsample_nearest_exact1d", ResizeMode::NearestExact, self, false, {scales}, out);
}
void upsample_nearest_exact1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_nearest_exact1d_backward", ResizeMode::NearestExact, grad_output, false, {scales}, grad_input);
}

void upsample_nearest_exact2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_nearest_exact2d", ResizeMode::NearestExact, self, false, {scales_h, scales_w}, out);
}
void upsample_nearest_exact2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_nearest_exact2d_backward", ResizeMode::NearestExact, grad_output, false, {scales_h, scales_w},
      grad_input);
}

void upsample_nearest_exact3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_nearest_exact3d", ResizeMode::NearestExact, self, false, {scales_d, scales_h, scales_w}, out);
}
void upsample_nearest_exact3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_nearest_exact3d_backward", ResizeMode::NearestExact, grad_output, false,
      {scales_d, scales_h, scales_w}, grad_input);
}

void upsample_linear1d_kernel(
    const TensorBase& self, IntArrayRef, bool align_corners, std::optional<double> scales, const TensorBase& out) {
  resize("upsample_linear1d", ResizeMode::Linear, self, align_corners, {scales}, out);
}
void upsample_linear1d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales,
    const TensorBase& grad_input) {
  resize_backward("upsample_linear1d_backward", ResizeMode::Linear, grad_output, align_corners, {scales}, grad_input);
}

void upsample_bilinear2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_bilinear2d", ResizeMode::Linear, self, align_corners, {scales_h, scales_w}, out);
}
void upsample_bilinear2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_bilinear2d_backward", ResizeMode::Linear, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_trilinear3d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_trilinear3d", ResizeMode::Linear, self, align_corners, {scales_d, scales_h, scales_w}, out);
}
void upsample_trilinear3d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_d,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_trilinear3d_backward", ResizeMode::Linear, grad_output, align_corners, {scales_d, scales_h, scales_w},
      grad_input);
}

void upsample_bicubic2d_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("upsample_bicubic2d", ResizeMode::Cubic, self, align_corners, {scales_h, scales_w}, out);
}
void upsample_bicubic2d_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "upsample_bicubic2d_backward", ResizeMode::Cubic, grad_output, align_corners, {scales_h, scales_w}, grad_input);
}

void upsample_bilinear2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_bilinear2d_aa", ResizeMode::LinearSmooth, self, align_corners, {scales_h, scales_w}, out);
}
void upsample_bilinear2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_bilinear2d_aa_backward", ResizeMode::LinearSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

void upsample_bicubic2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_bicubic2d_aa", ResizeMode::CubicSmooth, self, align_corners, {scales_h, scales_w}, out);
}
void upsample_bicubic2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_bicubic2d_aa_backward", ResizeMode::CubicSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

void upsample_lanczos2d_aa_kernel(
    const TensorBase& self,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& out) {
  resize("_upsample_lanczos2d_aa", ResizeMode::LanczosSmooth, self, align_corners, {scales_h, scales_w}, out);
}
void upsample_lanczos2d_aa_backward_kernel(
    const TensorBase& grad_output,
    IntArrayRef,
    IntArrayRef,
    bool align_corners,
    std::optional<double> scales_h,
    std::optional<double> scales_w,
    const TensorBase& grad_input) {
  resize_backward(
      "_upsample_lanczos2d_aa_backward", ResizeMode::LanczosSmooth, grad_output, align_corners, {scales_h, scales_w},
      grad_input);
}

} // namespace at::native::cuda
