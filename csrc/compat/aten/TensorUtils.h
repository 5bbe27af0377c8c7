// Checks of tensor arguments, for operators written outside of the library. Each throws with the argument's name and
// position, what came, what must hold, and who asked:
//
//   at::TensorArg input{input_, "input", 1}, weight{weight_, "weight", 2};
//   at::checkAllSameType("my_op", {input, weight});
//   at::checkDim("my_op", input, 4);
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorGeometry.h>
#include <c10/core/Backend.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/DimVector.h>

#include <iosfwd>
#include <optional>
#include <utility>
#include <vector>

namespace at {

using c10::SymDimVector;

/// A tensor and how messages call it: `pos` counts arguments from 1; 0 says that there is no position.
struct TORCH_API TensorArg {
  TensorArg(const Tensor& tensor, const char* name, int pos) : tensor(tensor), name(name), pos(pos) {}
  TensorArg(Tensor&&, const char*, int) = delete;
  const Tensor* operator->() const {
    return &tensor;
  }
  const Tensor& operator*() const {
    return tensor;
  }

  const Tensor& tensor;
  const char* name;
  int pos;
};

/// The same for checks that need no data.
struct TORCH_API TensorGeometryArg {
  TensorGeometryArg(TensorArg arg) : tensor(TensorGeometry(arg.tensor)), name(arg.name), pos(arg.pos) {}
  TensorGeometryArg(TensorGeometry tensor, const char* name, int pos)
      : tensor(std::move(tensor)), name(name), pos(pos) {}
  const TensorGeometry* operator->() const {
    return &tensor;
  }
  const TensorGeometry& operator*() const {
    return tensor;
  }

  TensorGeometry tensor;
  const char* name;
  int pos;
};

/// The function on whose behalf is checked; messages end with it.
using CheckedFrom = const char*;

/// "argument #2 'weight'", or "'weight'" without a position.
TORCH_API std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& t);

TORCH_API void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim);
TORCH_API void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim);
/// From `dim_start` up to, but not including, `dim_end` dimensions.
TORCH_API void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t dim_start, int64_t dim_end);
TORCH_API void checkSameDim(CheckedFrom c, const TensorGeometryArg& t1, const TensorGeometryArg& t2);
TORCH_API void checkContiguous(CheckedFrom c, const TensorGeometryArg& t);
TORCH_API void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> ts);
TORCH_API void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes);
TORCH_API void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size);
TORCH_API void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, c10::SymIntArrayRef sizes);
TORCH_API void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, const c10::SymInt& size);
TORCH_API void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel);

TORCH_API void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
TORCH_API void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
TORCH_API void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
TORCH_API void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2);
TORCH_API void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType s);
TORCH_API void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> l);
TORCH_API void checkDefined(CheckedFrom c, const TensorArg& t);

/// The checks of pairs, on each tensor that is defined and the first such one.
TORCH_API void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors);
TORCH_API void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors);
TORCH_API void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors);
TORCH_API void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors);
TORCH_API void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors);

TORCH_API void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend);
TORCH_API void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType device_type);
TORCH_API void checkLayout(CheckedFrom c, const Tensor& t, Layout layout);
TORCH_API void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout);

/// The data, or null for a tensor that is not defined.
TORCH_API void* maybe_data_ptr(const Tensor& tensor);
TORCH_API void* maybe_data_ptr(const TensorArg& tensor);

/// `dim` dimensions, and `size` elements along `dim_size`.
TORCH_API void check_dim_size(const Tensor& tensor, int64_t dim, int64_t dim_size, int64_t size);

namespace detail {

/// Strides of a contiguous tensor.
TORCH_API std::vector<int64_t> defaultStrides(IntArrayRef sizes);

/// Strides that show memory of (oldshape, oldstride) as newshape, or none when a copy would be needed. Both shapes must
/// hold the same number of elements.
TORCH_API std::optional<std::vector<int64_t>> computeStride(
    IntArrayRef oldshape, IntArrayRef oldstride, IntArrayRef newshape);
TORCH_API std::optional<SymDimVector> computeStride(
    c10::SymIntArrayRef oldshape, c10::SymIntArrayRef oldstride, c10::SymIntArrayRef newshape);
TORCH_API std::optional<c10::DimVector> computeStride(
    IntArrayRef oldshape, IntArrayRef oldstride, const c10::DimVector& newshape);

} // namespace detail
} // namespace at
