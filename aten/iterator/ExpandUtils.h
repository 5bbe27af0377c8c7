// Broadcasting of shapes and tensors.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/MaybeOwned.h>

#include <functional>
#include <initializer_list>
#include <tuple>
#include <vector>

namespace at {

/// The shape both broadcast to. Throws "The size of tensor a (..) must match the size of tensor b (..) ...".
TORCH_API std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b);
TORCH_API c10::DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b);
TORCH_API c10::SymDimVector infer_size_symdimvector(c10::SymIntArrayRef a, c10::SymIntArrayRef b);

/// Sizes and strides of a tensor of `tensor_sizes` and `tensor_strides` when it is expanded to `sizes`, where -1 keeps
/// a size.
TORCH_API std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(
    IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes);
/// Strides of a tensor without gaps whose dimensions lie in memory in the order of `tensor_strides`.
TORCH_API std::vector<int64_t> infer_dense_strides(IntArrayRef tensor_sizes, IntArrayRef tensor_strides);

/// Can a tensor of `shape` be expanded to `desired`?
TORCH_API bool is_expandable_to(IntArrayRef shape, IntArrayRef desired);
TORCH_API bool is_expandable_to(c10::SymIntArrayRef shape, c10::SymIntArrayRef desired);
inline bool are_expandable(IntArrayRef a, IntArrayRef b) {
  const size_t common = a.size() < b.size() ? a.size() : b.size();
  for (size_t i = 1; i <= common; ++i) {
    const int64_t x = a[a.size() - i];
    const int64_t y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) {
      return false;
    }
  }
  return true;
}

/// Throws "NAME(...) called with an undefined Tensor".
TORCH_API void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name);

/// Expands tensors to their common shape; tensors that have it already are passed on, borrowed, so they must live on.
/// With `api_name` undefined tensors are refused in its name.
TORCH_API std::vector<Tensor> expand_outplace(TensorList to_expand);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const char* api_name);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const Tensor& c);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const Tensor& c, const char* api_name);
/// Expands `to_expand` to the shape of `tensor`.
TORCH_API c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand);
TORCH_API c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(
    const Tensor& tensor, const Tensor& a, const Tensor& b);
TORCH_API std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(
    const Tensor& tensor, const Tensor& a, const Tensor& b, const char* api_name);
TORCH_API c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes);
TORCH_API c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name);

/// Sums `tensor` down to `shape`, which must be expandable to its sizes: the adjoint of expand.
/// Returns a view or the tensor itself where nothing is to be summed, unless `always_return_non_view`.
TORCH_API Tensor sum_to(Tensor tensor, IntArrayRef shape, bool always_return_non_view = false);
TORCH_API Tensor sum_to(Tensor tensor, c10::SymIntArrayRef shape, bool always_return_non_view = false);

} // namespace at
