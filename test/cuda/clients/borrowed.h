#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

// Functions of an extension made with the kernels that extensions borrow from ATen: softmax of short rows, functions
// applied to some tensors, reductions, samplers, columns. All take tensors on one device; for the emulator, where the
// CPU stands in for it, that is the CPU.

/// Softmax of rows, or its logarithm. Where the mask, if there is one, is true an element counts as -infinity. A mask
/// with fewer rows serves as many rows in turn, `chunk` elements of the input each.
at::Tensor row_softmax(const at::Tensor& rows, const at::Tensor& mask, bool log, int chunk = 0);
at::Tensor row_softmax_backward(const at::Tensor& grad, const at::Tensor& output, const at::Tensor& mask, bool log);

/// x += 1; x = y + z; x += y * z * w; each element of x as often as it is in x.
void add_one(const at::Tensor& x);
void add_into(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z);
void add_product_into(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z, const at::Tensor& w);
/// x = y, four elements of a thread at once.
bool copy_by_four(const at::Tensor& x, const at::Tensor& y);

/// The greatest element and where it is among those that are reduced; the sum of squares.
std::tuple<at::Tensor, at::Tensor> greatest(const at::Tensor& x, int64_t dim);
at::Tensor square_sum(const at::Tensor& x, at::OptionalIntArrayRef dims);

enum class Law { Normal, Uniform, Exponential, Geometric, Bernoulli, Integers, AllIntegers };
void sample_law(const at::Tensor& x, Law law, double a, double b);
void sample_each(const at::Tensor& x, const at::Tensor& chances);

/// at::im2col of one image without a batch, and back.
at::Tensor image_to_columns(const at::Tensor& image, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride);
at::Tensor columns_to_image(
    const at::Tensor& columns,
    int64_t height,
    int64_t width,
    int64_t kernel,
    int64_t dilation,
    int64_t padding,
    int64_t stride);

/// Square roots of up to 64 numbers.
at::Tensor roots(const at::Tensor& x);

/// Compares all of them with ATen's operators on the CPU. Fails the test that calls it.
void check_borrowed(c10::Device device);
