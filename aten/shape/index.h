// Shape functions of indexing operators. Values of indices are checked by the kernels, before anything is written.
#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace at::shape {

/// Self's sizes with size(dim) = number of indices.
TensorSpec index_select(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index);
TensorSpec index_add(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const Scalar& alpha);
TensorSpec index_reduce(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, std::string_view reduce, bool include_self);
TensorSpec index_copy(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source);
TensorSpec index_fill(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value);
/// Index's sizes; index may exceed self in dimension `dim` only.
TensorSpec gather(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, bool sparse_grad);
TensorSpec scatter_src(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src);
TensorSpec scatter_value(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value);
TensorSpec scatter_reduce_src(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, std::string_view reduce);
TensorSpec scatter_reduce_value(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, std::string_view reduce);
TensorSpec scatter_reduce_two(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, std::string_view reduce, bool include_self);
/// Index's sizes.
TensorSpec take(const char* op, const TensorBase& self, const TensorBase& index);

/// What out arguments must be: of the dtype of self, and no part of an input.
/// Throws when elements of `out` share memory, with each other or with those of `inputs`.
void check_no_overlap(const TensorBase& out, std::initializer_list<const TensorBase*> inputs);
/// For operators that write a value, which may be a tensor, where an index says. The output comes last; it may be self.
template <class Value, class... MoreAndOut>
void indexed_out(const char*, const TensorBase&, int64_t, const TensorBase& index, const Value& value, const MoreAndOut&... more_and_out) {
  const TensorBase& out = std::get<sizeof...(MoreAndOut) - 1>(std::tie(more_and_out...));
  check_no_overlap(out, {&index});
  if constexpr (std::is_base_of_v<TensorBase, Value>) check_no_overlap(out, {&value});
}
void gather_out(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, bool sparse_grad, const TensorBase& out);
void index_out(const char* op, const TensorBase& self, const c10::List<std::optional<Tensor>>& indices, const TensorBase& out);
void index_select_out(const char* op, const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& out);
void masked_select_out(const char* op, const TensorBase& self, const TensorBase& mask, const TensorBase& out);
void take_out(const char* op, const TensorBase& self, const TensorBase& index, const TensorBase& out);

/// An output that is resized lies by rows, however the result of the function lies.
void rows_when_resized(std::initializer_list<const TensorBase*> outs, TensorSpec* specs);

} // namespace at::shape
