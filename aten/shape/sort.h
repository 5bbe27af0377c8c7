// Shapes and dtypes of sorting, selection, searching and histograms. Every function throws on bad arguments.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <c10/core/Scalar.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at::shape {

/// Values laid out as the input where that is dense, and int64 indices.
std::array<TensorSpec, 2> sort_stable(const char* op, const TensorBase& self, std::optional<bool> stable, int64_t dim, bool descending);
std::array<TensorSpec, 2> topk(const char* op, const TensorBase& self, int64_t k, int64_t dim, bool largest, bool sorted);
std::array<TensorSpec, 2> kthvalue(const char* op, const TensorBase& self, int64_t k, int64_t dim, bool keepdim);
/// median and nanmedian along a dimension, and of everything.
std::array<TensorSpec, 2> median(const char* op, const TensorBase& self, int64_t dim, bool keepdim);
TensorSpec median(const char* op, const TensorBase& self);
std::array<TensorSpec, 2> mode(const char* op, const TensorBase& self, int64_t dim, bool keepdim);

TensorSpec searchsorted(
    const char* op,
    const TensorBase& sorted_sequence,
    const TensorBase& self,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter);
TensorSpec bucketize(const char* op, const TensorBase& self, const TensorBase& boundaries, bool out_int32, bool right);
TensorSpec histc(const char* op, const TensorBase& self, int64_t bins, const c10::Scalar& min, const c10::Scalar& max);

/// Checks of given outputs that have a message of their own.
void kthvalue_out(const char* op, const TensorBase& self, int64_t k, int64_t dim, bool keepdim, const TensorBase& values, const TensorBase& indices);
void median_out(const char* op, const TensorBase& self, int64_t dim, bool keepdim, const TensorBase& values, const TensorBase& indices);
void mode_out(const char* op, const TensorBase& self, int64_t dim, bool keepdim, const TensorBase& values, const TensorBase& indices);
void searchsorted_out(
    const char* op,
    const TensorBase& sorted_sequence,
    const TensorBase& self,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter,
    const TensorBase& out);
void bucketize_out(const char* op, const TensorBase& self, const TensorBase& boundaries, bool out_int32, bool right, const TensorBase& out);
void histc_out(const char* op, const TensorBase& self, int64_t bins, const c10::Scalar& min, const c10::Scalar& max, const TensorBase& out);

} // namespace at::shape
