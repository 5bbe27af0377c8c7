// Derivatives of reductions and scans that are too long for one line of their entry. All are written with operators, so
// that they can be differentiated again.
#pragma once

#include <aten/core/Tensor.h>

#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <optional>

namespace torch::autograd::formulas {

/// Puts back, as size-1 dimensions, those that a reduction over `dims` (all, if none) removed from a tensor of `ndim`.
at::Tensor restore_reduced_dims(const at::Tensor& reduced, at::OptionalIntArrayRef dims, int64_t ndim, bool keepdim);

at::Tensor sum_backward(const at::Tensor& grad, at::IntArrayRef sizes, at::OptionalIntArrayRef dims, bool keepdim);
at::Tensor nansum_backward(const at::Tensor& grad, const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim);
at::Tensor mean_backward(
    const at::Tensor& grad,
    at::IntArrayRef sizes,
    at::OptionalIntArrayRef dims,
    int64_t numel,
    bool keepdim);

at::Tensor prod_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
at::Tensor prod_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim);

/// Shares the gradient evenly among the elements of `self` that equal `result` (or are NaN with it).
at::Tensor evenly_distribute_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result);
at::Tensor amax_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& result,
    at::IntArrayRef dim,
    bool keepdim);
at::Tensor aminmax_backward(
    const at::Tensor& self,
    std::optional<int64_t> dim,
    bool keepdim,
    const at::Tensor& grad_min,
    const at::Tensor& grad_max,
    const at::Tensor& min,
    const at::Tensor& max);

at::Tensor linalg_vector_norm_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Scalar& ord,
    at::OptionalIntArrayRef dim,
    bool keepdim,
    const at::Tensor& norm);

at::Tensor var_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    at::OptionalIntArrayRef dim,
    const std::optional<at::Scalar>& correction,
    bool keepdim);
at::Tensor std_backward(
    const at::Tensor& result,
    const at::Tensor& grad,
    const at::Tensor& self,
    at::OptionalIntArrayRef dim,
    const std::optional<at::Scalar>& correction,
    bool keepdim);
at::Tensor var_mean_backward(
    const at::Tensor& grad_var,
    const at::Tensor& grad_mean,
    const at::Tensor& self,
    at::OptionalIntArrayRef dim,
    const std::optional<at::Scalar>& correction,
    bool keepdim);
at::Tensor std_mean_backward(
    const at::Tensor& grad_std,
    const at::Tensor& grad_mean,
    const at::Tensor& self,
    const at::Tensor& std,
    at::OptionalIntArrayRef dim,
    const std::optional<at::Scalar>& correction,
    bool keepdim);

at::Tensor renorm_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Scalar& p,
    int64_t dim,
    const at::Scalar& maxnorm);

at::Tensor logsumexp_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    const at::Tensor& result,
    at::IntArrayRef dim,
    bool keepdim);
at::Tensor cumsum_backward(const at::Tensor& grad, int64_t dim);
at::Tensor logcumsumexp_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result, int64_t dim);

} // namespace torch::autograd::formulas
