// Names of dimensions in calls: positions of dimensions that are given by name, and the names of results.
#pragma once

#include <aten/core/Dimname.h>
#include <aten/core/IListRef.h>
#include <aten/core/NamedTensor.h>
#include <aten/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace at {

/// What ITensorListRef::materialize() returns.
using MaterializedITensorListRef = std::vector<std::reference_wrapper<const Tensor>>;

/// Whether one of them has names.
TORCH_API bool has_names(ITensorListRef tensors);

/// The dimension with this name. Throws if there is none.
TORCH_API int64_t dimname_to_position(const Tensor& tensor, Dimname dim);
TORCH_API std::vector<int64_t> dimnames_to_positions(const Tensor& tensor, DimnameList dims);

/// The names of dimensions that have both names, matched from the right as in broadcasting. Throws where two differ, or
/// where a name stands at different places; `action` is for the message.
TORCH_API std::vector<Dimname> unify_from_right(DimnameList names, DimnameList other, const char* action = "broadcast");

/// Throws: the operator takes no names of dimensions.
[[noreturn]] inline void reportNYIDimnameOverload(const char* op_name) {
  C10_THROW_ERROR(
      Error,
      c10::str(
          op_name,
          ": You passed a dimname (string) to this op in place of a dimension index but it does not yet support ",
          "this behavior. Please pass a dimension index to work around this."));
}

namespace namedinference {

// Results take names. One that has names already, since the caller made it, must have the same.

/// Throws for an empty list, but for a result without dimensions: it is then for propagate_names_if_nonempty.
TORCH_API const Tensor& propagate_names(const Tensor& result, DimnameList names, bool validate_names = false);
TORCH_API void propagate_names(const TensorBase& result, DimnameList names, bool validate_names = false);
TORCH_API TensorImpl* propagate_names(TensorImpl* result, DimnameList names, bool validate_names = false);
/// An empty list leaves the result as it is.
TORCH_API const Tensor& propagate_names_if_nonempty(
    const Tensor& result, DimnameList maybe_names, bool validate_names = false);
TORCH_API void propagate_names_if_nonempty(
    const TensorBase& result, DimnameList maybe_names, bool validate_names = false);
TORCH_API TensorImpl* propagate_names_if_nonempty(
    TensorImpl* result, DimnameList maybe_names, bool validate_names = false);
/// The names of `src`, if it has any.
TORCH_API void propagate_names(const Tensor& result, const Tensor& src);
TORCH_API void propagate_names(const TensorBase& result, const TensorBase& src);
TORCH_API void propagate_names(TensorImpl* result, TensorImpl* src);
/// Those of all dimensions but `excluded`.
TORCH_API void propagate_names_except(const Tensor& result, const Tensor& src, IntArrayRef excluded);
TORCH_API void propagate_names_for_reduction(
    const Tensor& result, const Tensor& src, IntArrayRef reduced, bool keepdim);
/// New dimensions come before the others and have no name.
TORCH_API void propagate_names_for_expand(const Tensor& result, const Tensor& self);

// The names of results, empty if no tensor has names. They throw where the names of the operands do not fit.

TORCH_API std::vector<Dimname> compute_squeeze_outnames(const Tensor& tensor);
TORCH_API std::vector<Dimname> compute_diagonal_outnames(const Tensor& tensor, int64_t dim1, int64_t dim2);
TORCH_API std::vector<Dimname> compute_broadcast_outnames(const Tensor& self, const Tensor& other);
TORCH_API std::vector<Dimname> broadcast_to_outnames(
    const Tensor& tensor, const Tensor& reference, const char* op_name);
TORCH_API std::vector<Dimname> compute_cat_outnames(const MaterializedITensorListRef& tensors);
TORCH_API std::vector<Dimname> compute_matmul_outnames(const Tensor& self, const Tensor& other);
TORCH_API std::vector<Dimname> compute_bmm_outnames(const Tensor& result, const Tensor& self, const Tensor& other);
TORCH_API std::vector<Dimname> compute_baddbmm_outnames(
    const Tensor& result, const Tensor& self, const Tensor& other, const Tensor& bias);
TORCH_API std::vector<Dimname> compute_cdist_outnames(const Tensor& self, const Tensor& other);
TORCH_API std::vector<Dimname> propagate_names_for_addmm(const Tensor& m1, const Tensor& m2, const Tensor& bias);
TORCH_API std::vector<Dimname> propagate_names_for_addmv(const Tensor& mat, const Tensor& vec, const Tensor& bias);
/// Throws where the names of two vectors differ.
TORCH_API void check_names_for_dot(TensorImpl* vec1, TensorImpl* vec2);
TORCH_API bool are_names_equal(TensorImpl* self, TensorImpl* other);

} // namespace namedinference
} // namespace at
