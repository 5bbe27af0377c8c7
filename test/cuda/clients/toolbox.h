#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

// Functions of an extension made with the device headers that extensions borrow from ATen/native/cuda. All take tensors
// on one device; for the emulator, where the CPU stands in for it, that is the CPU.

/// at::grid_sampler_2d of contiguous floats, and its gradients of image and grid.
at::Tensor sample(const at::Tensor& image, const at::Tensor& grid, bool cubic, int64_t padding, bool align_corners);
std::tuple<at::Tensor, at::Tensor> sample_backward(
    const at::Tensor& grad,
    const at::Tensor& image,
    const at::Tensor& grid,
    bool cubic,
    int64_t padding,
    bool align_corners);
/// Sum and maximum of each row, of up to 1024 elements.
std::tuple<at::Tensor, at::Tensor> sums_and_maxima(const at::Tensor& rows);
/// out = factor * x, whatever their strides and dtypes.
void scale_into(const at::Tensor& x, float factor, const at::Tensor& out);
/// factor * x of dense floats, several at once.
at::Tensor scale_by_vectors(const at::Tensor& x, float factor);
/// The places of the elements that are not 0, in a row of 256.
at::Tensor places(const at::Tensor& x);
/// x + y * scale by the iterator's loop, x * y and x / y by one.
at::Tensor add_scaled(const at::Tensor& x, const at::Tensor& y, double scale, at::ScalarType result);
std::tuple<at::Tensor, at::Tensor> product_and_quotient(const at::Tensor& x, const at::Tensor& y);
/// x - y, where one may be a number on the CPU.
at::Tensor difference(const at::Tensor& x, const at::Tensor& y);

/// Compares all of them with ATen's operators on the CPU. Fails the test that calls it.
void check_toolbox(c10::Device device);
