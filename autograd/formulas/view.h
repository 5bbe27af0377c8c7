// Gradients of views, and of operators that join or spread memory.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorGeometry.h>
#include <c10/macros/Export.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

/// The gradient of as_strided for an input of the given geometry. Where several elements of the output are one memory
/// place, their gradients add up; where several elements of the input are one, each gets an equal share, so that the
/// sum over the memory place is right.
at::Tensor as_strided_backward(
    at::Tensor grad,
    const at::TensorGeometry& input,
    at::IntArrayRef sizes,
    at::IntArrayRef strides,
    std::optional<int64_t> storage_offset);

/// The gradients of as_strided_scatter, for self of the given geometry and for src: each memory place belongs to src if
/// the strided view has it, else to self.
std::tuple<at::Tensor, at::Tensor> as_strided_scatter_backward(
    const at::Tensor& grad,
    const at::TensorGeometry& self,
    at::IntArrayRef sizes,
    at::IntArrayRef strides,
    std::optional<int64_t> storage_offset);

/// Undoes a permutation.
at::Tensor permute_backwards(const at::Tensor& grad, at::IntArrayRef forward_dims);

/// Puts back all dimensions of size 1 that squeeze took from a tensor of shape `sizes`.
at::Tensor unsqueeze_to(const at::Tensor& grad, at::IntArrayRef sizes);
/// The same for squeeze(dim).
at::Tensor unsqueeze_to(const at::Tensor& grad, int64_t dim, at::IntArrayRef sizes);
/// The same for squeeze(dims).
at::Tensor unsqueeze_multiple(const at::Tensor& grad, at::IntArrayRef dims, at::IntArrayRef sizes);

/// The gradient of slice, whose bounds may be left out.
at::Tensor slice_backward_wrapper(
    const at::Tensor& grad,
    at::IntArrayRef input_sizes,
    int64_t dim,
    std::optional<int64_t> start,
    std::optional<int64_t> end,
    int64_t step);

/// The gradients of the pieces of a tensor, put together; those that are undefined count as zeros.
at::Tensor split_with_sizes_backward(
    const std::vector<at::Tensor>& grads,
    at::IntArrayRef split_sizes,
    int64_t dim,
    at::IntArrayRef sizes,
    const at::TensorOptions& options);
at::Tensor split_backward(
    const std::vector<at::Tensor>& grads,
    int64_t split_size,
    int64_t dim,
    at::IntArrayRef sizes,
    const at::TensorOptions& options);
at::Tensor unbind_backward(
    const std::vector<at::Tensor>& grads,
    int64_t dim,
    at::IntArrayRef sizes,
    const at::TensorOptions& options);

/// The parts of a gradient for each of the tensors that cat joined, real for those that are real.
std::vector<at::Tensor> cat_tensors_backward(
    const at::Tensor& grad,
    const std::vector<std::vector<int64_t>>& sizes,
    const std::vector<at::ScalarType>& dtypes,
    int64_t dim);
/// The same for stack.
std::vector<at::Tensor> stack_tensors_backward(
    const at::Tensor& grad,
    int64_t dim,
    const std::vector<at::ScalarType>& dtypes);
/// The same for block_diag.
std::vector<at::Tensor> block_diag_backward(
    const at::Tensor& grad,
    const std::vector<std::vector<int64_t>>& sizes,
    const std::vector<at::ScalarType>& dtypes);

/// Sums the gradient over all repetitions.
at::Tensor repeat_backward(const at::Tensor& grad, at::IntArrayRef repeats, at::IntArrayRef input_sizes);

/// Cuts off what was padded, and pads with zeros what was cut off.
at::Tensor constant_pad_nd_backward(const at::Tensor& grad, at::IntArrayRef pad);

/// Deals channels back.
at::Tensor native_channel_shuffle_backward(const at::Tensor& grad, int64_t groups);

/// Rolls back.
at::Tensor roll_backward(const at::Tensor& grad, at::IntArrayRef shifts, at::IntArrayRef dims);

} // namespace torch::autograd::formulas
