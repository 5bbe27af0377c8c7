// Lists of index tensors as kernels of advanced indexing want them.
#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native {

/// Masks (bool or uint8) become the indices of their elements that are not 0, one tensor for each of their dimensions;
/// an undefined tensor stands for a dimension without an index. With `ensure_same_device` the result is where `self`
/// is.
inline std::vector<Tensor> expandTensors(
    const Tensor& self, IOptTensorListRef indices, bool ensure_same_device = false) {
  std::vector<Tensor> result;
  for (const auto& given : indices) {
    if (!given.has_value() || !given->defined()) {
      result.emplace_back();
      continue;
    }
    const Tensor& index = *given;
    const auto placed = [&](const Tensor& t) { return ensure_same_device ? t.to(self.device()) : t; };
    if (index.scalar_type() != kByte && index.scalar_type() != kBool) {
      result.push_back(placed(index));
      continue;
    }
    const auto first = static_cast<int64_t>(result.size());
    for (int64_t j = 0; j < index.dim(); ++j) {
      TORCH_CHECK_INDEX(
          first + j < self.dim() && index.size(j) == self.size(first + j), "The shape of the mask ", index.sizes(),
          " at index ", j, " does not match the shape of the indexed tensor ", self.sizes(), " at index ", first + j);
    }
    const Tensor places = placed(index.nonzero());
    for (int64_t j = 0; j < index.dim(); ++j) {
      result.push_back(places.select(1, j));
    }
  }
  return result;
}

/// Throws unless all are of a dtype that indexes.
inline void checkIndexTensorTypes(IOptTensorListRef indices, bool allow_int = false) {
  for (const auto& index : indices) {
    if (index.has_value() && index->defined()) {
      const ScalarType dtype = index->scalar_type();
      const bool fits = dtype == kLong || dtype == kByte || dtype == kBool || (allow_int && dtype == kInt);
      TORCH_CHECK_INDEX(
          fits, "tensors used as indices must be long, ", allow_int ? "int, " : "", "byte or bool tensors, but got ",
          dtype);
    }
  }
}

inline c10::List<std::optional<Tensor>> toListOfOptionalTensors(ArrayRef<Tensor> list) {
  c10::List<std::optional<Tensor>> result;
  for (const Tensor& t : list) {
    result.push_back(t);
  }
  return result;
}
inline c10::List<std::optional<Tensor>> toListOfOptionalTensors(ArrayRef<c10::IValue> list) {
  c10::List<std::optional<Tensor>> result;
  for (const c10::IValue& value : list) {
    result.push_back(value.isTensor() ? std::optional<Tensor>(value.toTensor()) : std::nullopt);
  }
  return result;
}

/// Do the defined tensors stand side by side?
inline bool hasContiguousSubspace(TensorList indices) {
  const auto defined = [](const Tensor& t) { return t.defined(); };
  const auto first = std::find_if(indices.begin(), indices.end(), defined);
  const auto behind = std::find_if_not(first, indices.end(), defined);
  return std::none_of(behind, indices.end(), defined);
}

/// The tensor with its indexed dimensions first, the indices in that order, and where each dimension went.
inline std::tuple<Tensor, std::vector<Tensor>, std::vector<int64_t>> transposeToFrontAndInvPerm(
    const Tensor& self, TensorList indices) {
  TORCH_CHECK(
      static_cast<int64_t>(indices.size()) == self.dim(), "transposeToFront: got ", indices.size(),
      " indices for a tensor of ", self.dim(),
      " dimensions; there must be one for each, undefined where nothing is indexed");
  std::vector<int64_t> dims;
  std::vector<Tensor> moved;
  for (const bool indexed : {true, false}) {
    for (int64_t i = 0; i < self.dim(); ++i) {
      if (indices[i].defined() == indexed) {
        dims.push_back(i);
        moved.push_back(indices[i]);
      }
    }
  }
  std::vector<int64_t> inverse(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    inverse[dims[i]] = static_cast<int64_t>(i);
  }
  return {self.permute(dims), std::move(moved), std::move(inverse)};
}
inline std::tuple<Tensor, std::vector<Tensor>> transposeToFront(const Tensor& self, TensorList indices) {
  auto [tensor, moved, inverse] = transposeToFrontAndInvPerm(self, indices);
  return {std::move(tensor), std::move(moved)};
}

} // namespace at::native
