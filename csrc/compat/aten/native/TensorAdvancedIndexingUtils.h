// What a kernel of advanced indexing walks over: the tensor with strides of 0 where it is indexed, and the indices
// beside it.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/iterator/ExpandUtils.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>
#include <csrc/compat/aten/native/IndexingUtils.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace at::native {

/// The indexed dimensions stand side by side. `src` and all `indices` have the shape of the result, or broadcast to it;
/// an element is found at the address that `src` gives plus, for each index, its value times the entry of
/// `indexed_strides`.
struct AdvancedIndex {
  AdvancedIndex(const Tensor& source, TensorList given) {
    TORCH_CHECK(
        static_cast<int64_t>(given.size()) == source.dim() && hasContiguousSubspace(given), "AdvancedIndex: got ",
        given.size(), " indices for a tensor of ", source.dim(),
        " dimensions; there must be one for each, with the defined ones side by side");
    const auto defined = [](const Tensor& t) { return t.defined(); };
    dims_before = std::find_if(given.begin(), given.end(), defined) - given.begin();
    const int64_t dims_indexed = std::count_if(given.begin(), given.end(), defined);
    dims_after = source.dim() - dims_before - dims_indexed;
    TORCH_CHECK(dims_indexed > 0, "AdvancedIndex: got no index");
    const IntArrayRef replacement = given[dims_before].sizes();
    DimVector sizes(source.sizes().begin(), source.sizes().begin() + dims_before);
    DimVector strides(source.strides().begin(), source.strides().begin() + dims_before);
    sizes.append(replacement.begin(), replacement.end());
    strides.append(replacement.size(), 0);
    for (int64_t d = dims_before; d < dims_before + dims_indexed; ++d) {
      TORCH_CHECK_INDEX(
          source.size(d) != 0 || given[dims_before].numel() == 0, "index is out of bounds for dimension with size 0");
      indexed_sizes.push_back(source.size(d));
      indexed_strides.push_back(source.stride(d) * source.element_size());
    }
    sizes.append(source.sizes().end() - dims_after, source.sizes().end());
    strides.append(source.strides().end() - dims_after, source.strides().end());
    src = source.as_strided(sizes, strides);
    for (int64_t d = dims_before; d < dims_before + dims_indexed; ++d) {
      DimVector shape(static_cast<size_t>(dims_before), 1);
      shape.append(given[d].sizes().begin(), given[d].sizes().end());
      shape.append(static_cast<size_t>(dims_after), 1);
      indices.push_back(given[d].reshape(shape));
    }
  }

  Tensor src;
  std::vector<Tensor> indices;
  DimVector indexed_sizes;
  DimVector indexed_strides;
  int64_t dims_before = 0;
  int64_t dims_after = 0;
};

/// The same for the indices of an operator: masks are expanded, indices broadcast, and indexed dimensions that stand
/// apart moved to the front.
inline AdvancedIndex make_info(Tensor self, IOptTensorListRef orig) {
  checkIndexTensorTypes(orig, /*allow_int=*/true);
  std::vector<Tensor> indices = expandTensors(self, orig, /*ensure_same_device=*/true);
  try {
    indices = expand_outplace(indices);
  } catch (const c10::Error&) {
    std::vector<IntArrayRef> shapes;
    for (const Tensor& index : indices) {
      if (index.defined()) {
        shapes.push_back(index.sizes());
      }
    }
    TORCH_CHECK_INDEX(
        false, "shape mismatch: indexing tensors could not be broadcast together with shapes ",
        c10::Join(", ", shapes));
  }
  TORCH_CHECK_INDEX(
      static_cast<int64_t>(indices.size()) <= self.dim(), "too many indices for tensor of dimension ", self.dim(),
      " (got ", indices.size(), ")");
  indices.resize(static_cast<size_t>(self.dim()));
  if (!hasContiguousSubspace(indices)) {
    std::tie(self, indices) = transposeToFront(self, indices);
  }
  for (Tensor& index : indices) {
    if (index.defined() && index.scalar_type() == kInt) {
      index = index.to(kLong);
    }
  }
  return AdvancedIndex(self, indices);
}

} // namespace at::native
