// Shape functions of resizing and grid sampling.
#pragma once

#include <aten/core/TensorSpec.h>

#include <initializer_list>
#include <optional>

namespace at::shape {

/// An output that is resized lies as a new result would.
void keep_memory_format(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);

TensorSpec upsample_nearest1d(const char* op, const TensorBase& self, IntArrayRef output_size, std::optional<double> scales);
TensorSpec upsample_nearest2d(const char* op, const TensorBase& self, IntArrayRef output_size, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_nearest3d(const char* op, const TensorBase& self, IntArrayRef output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_linear1d(const char* op, const TensorBase& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales);
TensorSpec upsample_linear2d(const char* op, const TensorBase& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_linear3d(const char* op, const TensorBase& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w);

TensorSpec upsample_nearest1d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales);
TensorSpec upsample_nearest2d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_nearest3d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_linear1d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales);
TensorSpec upsample_linear2d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w);
TensorSpec upsample_linear3d_backward(const char* op, const TensorBase& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w);

TensorSpec grid_sampler_2d(const char* op, const TensorBase& input, const TensorBase& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners);
TensorSpec grid_sampler_3d(const char* op, const TensorBase& input, const TensorBase& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners);

} // namespace at::shape
