// Shapes, dtypes and iterators of reductions, for programs with kernels of their own.
//
//   at::Tensor result;
//   auto iter = at::native::make_reduction("my_sum", result, self, dims, /*keepdim=*/false, at::kFloat);
//   // ... a loop over `iter` fills `result`
#pragma once

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/WrapDimUtilsMulti.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/OutArgument.h>
#include <c10/util/DimVector.h>
#include <csrc/compat/aten/native/NonEmptyUtils.h>

#include <bitset>
#include <limits>
#include <optional>
#include <vector>

namespace at::native {

using DimMask = std::bitset<dim_bitset_size>;

/// The largest and the smallest value of a type; infinities where it has them.
template <typename scalar_t>
constexpr scalar_t upper_bound() {
  using limits = std::numeric_limits<scalar_t>;
  return limits::has_infinity ? limits::infinity() : limits::max();
}
template <typename scalar_t>
constexpr scalar_t lower_bound() {
  using limits = std::numeric_limits<scalar_t>;
  return limits::has_infinity ? -limits::infinity() : limits::lowest();
}

/// The dimensions that are reduced: all of them without a list, and for an empty one unless that is allowed.
inline DimMask make_dim_mask(OptionalIntArrayRef dims, int64_t ndim, bool allow_empty_dims = false) {
  if (!dims.has_value() || (dims->empty() && !allow_empty_dims)) {
    return DimMask().flip();
  }
  return at::dim_list_to_bitset(dims, static_cast<size_t>(ndim));
}

inline DimVector make_dim_vector(OptionalIntArrayRef dims, int64_t ndim) {
  if (dims.has_value()) {
    return DimVector(dims->begin(), dims->end());
  }
  DimVector all;
  for (int64_t d = 0; d < ndim; ++d) {
    all.push_back(d);
  }
  return all;
}

inline DimVector shape_from_dim_mask(const Tensor& self, DimMask mask, bool keepdim) {
  DimVector shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!mask[d]) {
      shape.push_back(self.size(d));
    } else if (keepdim) {
      shape.push_back(1);
    }
  }
  return shape;
}

/// Gives `result` the shape of a reduction; an undefined one is made.
inline void resize_reduction_result(Tensor& result, const Tensor& self, DimMask mask, bool keepdim, ScalarType dtype) {
  const DimVector shape = shape_from_dim_mask(self, mask, keepdim);
  if (result.defined()) {
    at::native::resize_output(result, shape);
  } else {
    result = at::empty(shape, self.options().dtype(dtype));
  }
}

inline Tensor create_reduction_result(const Tensor& self, OptionalIntArrayRef dims, bool keepdim, ScalarType dtype) {
  return at::empty(shape_from_dim_mask(self, make_dim_mask(dims, self.dim()), keepdim), self.options().dtype(dtype));
}

/// `result` with a dimension of stride 0 in place of each that was reduced and not kept.
inline Tensor review_reduce_result(const Tensor& result, int64_t ndim, DimMask mask, bool keepdim) {
  if (keepdim) {
    return result;
  }
  DimVector shape(result.sizes().begin(), result.sizes().end()),
      strides(result.strides().begin(), result.strides().end());
  for (int64_t d = 0; d < ndim; ++d) {
    if (mask[d]) {
      shape.insert(shape.begin() + d, 1);
      strides.insert(strides.begin() + d, 0);
    }
  }
  return result.as_strided(shape, strides);
}

/// An iterator over `self`, as `in_dtype`, that reduces `dims` into `result`.
inline TensorIterator make_reduction(
    const char* name,
    Tensor& result,
    const Tensor& self,
    OptionalIntArrayRef dims,
    bool keepdim,
    ScalarType in_dtype,
    ScalarType out_dtype) {
  TORCH_CHECK(
      !result.defined() || result.scalar_type() == out_dtype, name, ": provided dtype must match dtype of result. Got ",
      toString(result.scalar_type()), " and ", toString(out_dtype), ".");
  const DimMask mask = make_dim_mask(dims, self.dim());
  resize_reduction_result(result, self, mask, keepdim, out_dtype);
  Tensor viewed = review_reduce_result(result, self.dim(), mask, keepdim);
  return TensorIterator::reduce_op(viewed, self.scalar_type() == in_dtype ? self : self.to(in_dtype));
}

inline TensorIterator make_reduction(
    const char* name,
    Tensor& result,
    const Tensor& self,
    OptionalIntArrayRef dims,
    bool keepdim,
    ScalarType out_dtype) {
  // Kernels for GPUs read 16-bit numbers as they are and sum them as floats.
  const bool as_it_is = self.is_cuda() && isReducedFloatingType(self.scalar_type()) && out_dtype == kFloat;
  const ScalarType in_dtype = as_it_is ? self.scalar_type()
      : self.is_complex()              ? c10::toComplexType(out_dtype)
                                       : out_dtype;
  return make_reduction(name, result, self, dims, keepdim, in_dtype, out_dtype);
}

/// The same with two results.
inline TensorIterator make_reduction(
    const char* name,
    Tensor& result1,
    Tensor& result2,
    const Tensor& self,
    OptionalIntArrayRef dims,
    bool keepdim,
    ScalarType dtype1,
    ScalarType dtype2) {
  TORCH_CHECK(
      (!result1.defined() || result1.scalar_type() == dtype1) &&
          (!result2.defined() || result2.scalar_type() == dtype2),
      name, ": provided dtype must match dtype of result. Got ", toString(result1.scalar_type()), " and ",
      toString(result2.scalar_type()), ", expected ", toString(dtype1), " and ", toString(dtype2), ".");
  const DimMask mask = make_dim_mask(dims, self.dim());
  resize_reduction_result(result1, self, mask, keepdim, dtype1);
  resize_reduction_result(result2, self, mask, keepdim, dtype2);
  Tensor viewed1 = review_reduce_result(result1, self.dim(), mask, keepdim);
  Tensor viewed2 = review_reduce_result(result2, self.dim(), mask, keepdim);
  const bool as_it_is =
      self.scalar_type() == dtype1 || (self.is_cuda() && self.scalar_type() == kHalf && dtype1 == kFloat);
  return TensorIterator::reduce_op(viewed1, viewed2, as_it_is ? self : self.to(dtype1));
}

inline TensorIterator make_reduction(
    const char* name,
    Tensor& result1,
    Tensor& result2,
    const Tensor& self,
    OptionalIntArrayRef dims,
    bool keepdim,
    ScalarType dtype) {
  return make_reduction(name, result1, result2, self, dims, keepdim, dtype, dtype);
}

/// `src` with dimension `dim` at stride 0, at another shape.
inline Tensor restride_dim(const Tensor& src, int64_t dim, IntArrayRef replacement_shape) {
  IdxVec strides = ensure_nonempty_vec(src.strides().vec());
  strides[dim] = 0;
  return src.as_strided(replacement_shape, strides);
}

inline void _dimreduce_setup(const Tensor& result, const Tensor& self, int64_t dim) {
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes[dim] = 1;
  result.resize_(sizes);
}

/// Reduces tensors without dimensions or elements at once. Returns whether it did.
inline bool _dimreduce_return_trivial(
    const Tensor& result, const Tensor& self, const Scalar& ident, int64_t dim, bool keepdim) {
  if (self.dim() == 0) {
    result.resize_({});
    result.fill_(self);
    return true;
  }
  if (self.numel() == 0) {
    _dimreduce_setup(result, self, dim);
    result.fill_(ident);
    if (!keepdim) {
      result.squeeze_(dim);
    }
    return true;
  }
  return false;
}

inline bool _dimreduce_return_trivial_no_ident(
    Tensor& result, const Tensor& self, int64_t /*dim*/, bool /*keepdim*/, const char* /*fn_name*/) {
  if (self.dim() != 0) {
    return false;
  }
  result.resize_({});
  result.fill_(self);
  return true;
}

inline std::optional<Tensor> _allreduce_return_trivial(const Tensor& self, const Scalar& ident) {
  return self.numel() == 0 ? std::optional<Tensor>(at::scalar_tensor(ident, self.options())) : std::nullopt;
}

inline void check_scalar_type_device_layout_equal(const Tensor& out, const Tensor& self) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "expected scalar_type ", self.scalar_type(), " but found ",
      out.scalar_type());
  TORCH_CHECK(out.device() == self.device(), "expected device ", self.device(), " but found ", out.device());
  TORCH_CHECK(out.layout() == self.layout(), "expected layout ", self.layout(), " but found ", out.layout());
}

/// `self` in the dtype that integers are summed in.
inline Tensor integer_upcast(const Tensor& self, std::optional<ScalarType> dtype) {
  const bool integral = c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  return self.to(dtype.value_or(integral ? kLong : self.scalar_type()));
}

inline ScalarType get_dtype_from_self(
    const Tensor& self, const std::optional<ScalarType>& dtype, bool promote_integers) {
  const bool promoted = promote_integers && c10::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  return dtype.value_or(promoted ? kLong : self.scalar_type());
}

inline ScalarType get_dtype_from_result(const Tensor& result, std::optional<ScalarType> dtype) {
  TORCH_CHECK(
      result.defined(),
      "Cannot create a new tensor inside a reduction op. You likely tried to call an operator with an out "
      "argument but the out argument was an undefined tensor.");
  return dtype.value_or(result.scalar_type());
}

/// Throws where a reduction without an identity, such as a maximum, meets a dimension without elements.
inline void zero_numel_check_dims(const Tensor& self, int64_t dim, const char* fn_name) {
  if (self.dim() == 0) {
    TORCH_CHECK_INDEX(dim == 0 || dim == -1, fn_name, ": Expected reduction dim -1 or 0 for scalar but got ", dim);
  } else {
    TORCH_CHECK_INDEX(self.size(dim) != 0, fn_name, ": Expected reduction dim ", dim, " to have non-zero size.");
  }
}

inline void zero_numel_check_dims(const Tensor& self, IntArrayRef dims, const char* fn_name) {
  TORCH_CHECK(
      !dims.empty(), fn_name, ": Expected reduction dim to be specified for input.numel() == 0. ",
      "Specify the reduction dim with the 'dim' argument.");
  for (const int64_t dim : dims) {
    zero_numel_check_dims(self, dim, fn_name);
  }
}

inline std::vector<int64_t> get_zero_numel_tensor_size(
    const Tensor& self, int64_t dim, bool keepdim, const char* fn_name) {
  TORCH_INTERNAL_ASSERT(self.numel() == 0, fn_name, ": Expected self.numel() == 0.");
  zero_numel_check_dims(self, dim, fn_name);
  const DimVector shape = shape_from_dim_mask(self, make_dim_mask(IntArrayRef(dim), self.dim()), keepdim);
  return {shape.begin(), shape.end()};
}

inline void zero_numel_tensor_resize(
    Tensor& result, Tensor& result_indices, const Tensor& self, int64_t dim, bool keepdim, const char* fn_name) {
  const std::vector<int64_t> sizes = get_zero_numel_tensor_size(self, dim, keepdim, fn_name);
  at::native::resize_output(result, sizes);
  at::native::resize_output(result_indices, sizes);
}

} // namespace at::native

namespace at::meta {

inline DimVector get_reduction_shape(
    const Tensor& self, IntArrayRef dims, bool keepdim, bool allow_empty_dims = false) {
  return native::shape_from_dim_mask(self, native::make_dim_mask(dims, self.dim(), allow_empty_dims), keepdim);
}

} // namespace at::meta
