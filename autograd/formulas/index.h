// Gradients of indexing operators.
#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace torch::autograd::formulas {

using IndexList = c10::List<std::optional<at::Tensor>>;

at::Tensor index_backward(const at::Tensor& zeros, const IndexList& indices, const at::Tensor& grad);
at::Tensor index_put_self_backward(const at::Tensor& grad, const IndexList& indices, bool accumulate);
at::Tensor index_put_values_backward(const at::Tensor& grad, const IndexList& indices, at::IntArrayRef sizes);
at::Tensor index_add_source_backward(
    const at::Tensor& grad, int64_t dim, const at::Tensor& index, at::IntArrayRef source_sizes, const at::Scalar& alpha);
at::Tensor index_fill_value_backward(const at::Tensor& grad, int64_t dim, const at::Tensor& index);
at::Tensor gather_backward(const at::Tensor& grad, at::IntArrayRef self_sizes, int64_t dim, const at::Tensor& index);
std::tuple<at::Tensor, at::Tensor> scatter_reduce_backward(
    const at::Tensor& grad, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src,
    std::string_view reduce, bool include_self, const at::Tensor& result);
std::tuple<at::Tensor, at::Tensor> index_reduce_backward(
    const at::Tensor& grad, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
    std::string_view reduce, bool include_self, const at::Tensor& result);
at::Tensor masked_select_backward(const at::Tensor& grad, at::IntArrayRef self_sizes, const at::Tensor& mask);
at::Tensor masked_scatter_source_backward(const at::Tensor& grad, const at::Tensor& mask, at::IntArrayRef source_sizes);
at::Tensor take_backward(const at::Tensor& grad, at::IntArrayRef self_sizes, const at::Tensor& index);
at::Tensor put_self_backward(const at::Tensor& grad, const at::Tensor& index, bool accumulate);

} // namespace torch::autograd::formulas
