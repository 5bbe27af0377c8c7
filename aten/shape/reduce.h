// Shapes and dtypes of reductions and scans. Every function throws on bad arguments and touches no data.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/core/TensorSpec.h>

#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace at::shape {

/// The dimensions named by `dims`, all when there are none.
/// Throws IndexError when one is out of range, Error when one appears twice or there are more than 64.
std::bitset<64> reduction_mask(c10::OptionalIntArrayRef dims, int64_t ndim);

/// Sizes after reducing the masked dimensions.
c10::DimVector reduced_sizes(const TensorBase& self, const std::bitset<64>& mask, bool keepdim);

/// Throws IndexError when a reduction without identity meets dimension `dim` of size 0.
void check_nonempty_dim(const char* op, const TensorBase& self, int64_t dim);

/// sum, and reductions with its dtype rule: integers and bool give int64 unless `dtype` is given.
TensorSpec sum(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim, std::optional<c10::ScalarType> dtype);
TensorSpec sum(const char* op, const TensorBase& self, std::optional<c10::ScalarType> dtype);
TensorSpec nansum(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim, std::optional<c10::ScalarType> dtype);
TensorSpec prod(const char* op, const TensorBase& self, int64_t dim, bool keepdim, std::optional<c10::ScalarType> dtype);

/// mean: floating or complex, given or of the input.
TensorSpec mean(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim, std::optional<c10::ScalarType> dtype);
TensorSpec mean(const char* op, const TensorBase& self, std::optional<c10::ScalarType> dtype);

/// amax, amin.
TensorSpec amax(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim);
TensorSpec amin(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim);
/// Throws when `out` has another dtype than the input.
void amax_out(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim, const TensorBase& out);
/// max and min over everything.
TensorSpec max_all(const char* op, const TensorBase& self);
TensorSpec min_all(const char* op, const TensorBase& self);
/// max and min along a dimension: values and int64 indices.
std::array<TensorSpec, 2> max_dim(const char* op, const TensorBase& self, int64_t dim, bool keepdim);
std::array<TensorSpec, 2> aminmax(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim);
TensorSpec argmax(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim);
TensorSpec argmin(const char* op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim);

/// any, all: bool, or uint8 for uint8 input.
TensorSpec logic(const char* op, const TensorBase& self, int64_t dim, bool keepdim);
TensorSpec logic(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim);
TensorSpec logic(const char* op, const TensorBase& self);
/// Throws when `out` is neither bool nor uint8.
void logic_out(const char* op, const TensorBase& self, int64_t dim, bool keepdim, const TensorBase& out);
void logic_out(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, bool keepdim, const TensorBase& out);
void logic_out(const char* op, const TensorBase& self, const TensorBase& out);
/// Of uint8 too, the truth may be written as bool.
void logic_out_layout(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);
TensorSpec count_nonzero(const char* op, const TensorBase& self, std::optional<int64_t> dim);
TensorSpec hash_tensor(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim, int64_t mode);
TensorSpec count_nonzero(const char* op, const TensorBase& self, c10::IntArrayRef dim);

TensorSpec vector_norm(
    const char* op,
    const TensorBase& self,
    const c10::Scalar& ord,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<c10::ScalarType> dtype);

/// var, std: real for complex input; the mean beside them keeps the input's dtype.
TensorSpec var(const char* op, const TensorBase& self, c10::OptionalIntArrayRef dim, const std::optional<c10::Scalar>& correction, bool keepdim);
std::array<TensorSpec, 2> var_mean(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    const std::optional<c10::Scalar>& correction,
    bool keepdim);

/// cumsum, cumprod; logcumsumexp; cummax, cummin.
TensorSpec cumsum(const char* op, const TensorBase& self, int64_t dim, std::optional<c10::ScalarType> dtype);
TensorSpec logcumsumexp(const char* op, const TensorBase& self, int64_t dim);
void logcumsumexp_out(const char* op, const TensorBase& self, int64_t dim, const TensorBase& out);
/// The output of a mean has the dtype that was asked for; without one it may be any that the mean can be cast to.
void mean_out(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    const TensorBase& out);
void nansum_out(
    const char* op,
    const TensorBase& self,
    c10::OptionalIntArrayRef dim,
    bool keepdim,
    std::optional<ScalarType> dtype,
    const TensorBase& out);
void logsumexp_out(const char* op, const TensorBase& self, c10::IntArrayRef dim, bool keepdim, const TensorBase& out);
std::array<TensorSpec, 2> cummax(const char* op, const TensorBase& self, int64_t dim);
void cummax_out(const char* op, const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices);

TensorSpec trace(const char* op, const TensorBase& self);

/// The difference of order 0 is a copy, whose output must have the dtype of self.
void diff_out(const char* op, const TensorBase& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend, const std::optional<Tensor>& append, const TensorBase& out);

} // namespace at::shape
