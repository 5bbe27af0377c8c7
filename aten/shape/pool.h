// Shape functions of pooling.
#pragma once

#include <aten/core/TensorSpec.h>

#include <array>
#include <initializer_list>
#include <optional>

namespace at {
class Tensor;
}

namespace at::shape {

/// Number of windows of `kernel` elements at distance `stride` over `in` elements padded on both sides. Throws when the
/// stride is zero or the padding does not fit the kernel.
int64_t pooled_size(int64_t in, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode);

std::array<TensorSpec, 2> max_pool2d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
std::array<TensorSpec, 2> max_pool3d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
TensorSpec max_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const TensorBase& indices);
TensorSpec max_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const TensorBase& indices);

TensorSpec avg_pool2d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);
TensorSpec avg_pool3d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);
TensorSpec avg_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);
TensorSpec avg_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override);

/// Is an adaptive mean over the last `dims` dimensions one mean of each map? Throws for sizes that it does not take.
bool is_mean_of_maps(const char* op, int64_t dims, const TensorBase& self, IntArrayRef output_size);
TensorSpec adaptive_avg_pool2d(const char* op, const TensorBase& self, IntArrayRef output_size);
TensorSpec adaptive_avg_pool3d(const char* op, const TensorBase& self, IntArrayRef output_size);
TensorSpec adaptive_avg_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self);
TensorSpec adaptive_avg_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self);
std::array<TensorSpec, 2> adaptive_max_pool2d(const char* op, const TensorBase& self, IntArrayRef output_size);
std::array<TensorSpec, 2> adaptive_max_pool3d(const char* op, const TensorBase& self, IntArrayRef output_size);
TensorSpec adaptive_max_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices);
TensorSpec adaptive_max_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices);

std::array<TensorSpec, 2> fractional_max_pool2d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef output_size, const TensorBase& random_samples);
std::array<TensorSpec, 2> fractional_max_pool3d(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef output_size, const TensorBase& random_samples);
TensorSpec fractional_max_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef output_size, const TensorBase& indices);
TensorSpec fractional_max_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef output_size, const TensorBase& indices);

TensorSpec max_unpool2d(const char* op, const TensorBase& self, const TensorBase& indices, IntArrayRef output_size);
TensorSpec max_unpool3d(const char* op, const TensorBase& self, const TensorBase& indices, IntArrayRef output_size, IntArrayRef stride, IntArrayRef padding);

/// An output that is resized takes the memory format that the result of the function has.
void format_when_resized(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);

/// Throw unless an output has the dtype of self, and, for max_unpool3d, is contiguous.
void max_pool3d_out(const char* op, const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const TensorBase& out, const TensorBase& indices);
void max_unpool3d_out(const char* op, const TensorBase& self, const TensorBase& indices, IntArrayRef output_size, IntArrayRef stride, IntArrayRef padding, const TensorBase& out);

} // namespace at::shape
