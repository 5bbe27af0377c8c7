// gather and scatter, the index_* operators, take and embedding: all are walks of index.cu.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/embedding.h>
#include <aten/native/cuda/index_walk.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>
#include <limits>
#include <string_view>

namespace at::native::cuda {

namespace {

/// A 0-dim tensor counts as one of size 1.
DimVector strides_of(const TensorBase& t) {
  return t.dim() == 0 ? DimVector{1} : DimVector(t.strides().begin(), t.strides().end());
}
DimVector sizes_of(const TensorBase& t) {
  return t.dim() == 0 ? DimVector{1} : DimVector(t.sizes().begin(), t.sizes().end());
}
int64_t dim_size(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.size(dim);
}
int64_t dim_stride(const TensorBase& t, int64_t dim) {
  return t.dim() == 0 ? 1 : t.stride(dim);
}

/// Strides for a walk over `sizes`, with none along `dim`.
DimVector without_dim(DimVector strides, int64_t dim) {
  strides[dim] = 0;
  return strides;
}

/// Strides of a 1-D index that stands along `dim` of a walk over `ndim` dimensions.
DimVector along_dim(const TensorBase& index, size_t ndim, int64_t dim) {
  DimVector strides(ndim, 0);
  strides[dim] = index.dim() == 0 ? 0 : index.stride(0);
  return strides;
}

TensorBase as_long(const TensorBase& index) {
  return index.scalar_type() == kLong ? index : index.to(c10::TensorOptions().dtype(kLong));
}

void start_from(const TensorBase& self, const TensorBase& out) {
  if (!out.is_same(self)) {
    copy_on_device(out, self);
  }
}

/// A number as a tensor that has it everywhere.
Tensor number_like(const TensorBase& self, const Scalar& value, IntArrayRef sizes) {
  return at::full({}, value, Tensor(self).options()).expand(sizes);
}

/// A number as the bytes of an element.
struct ElementBytes {
  ElementBytes(const char* op, c10::ScalarType dtype, const Scalar& value) {
    dispatch(op, dtype, kAll | kComplexHalves | kUnsigned, [&]<class T> {
      const T converted = value.to<T>();
      std::memcpy(bytes, &converted, sizeof(T));
    });
  }
  alignas(16) char bytes[16];
};

/// The walk of gather and scatter: over the elements of `index`.
Walk element_walk(
    const char* op, const TensorBase& indexed, int64_t dim, const TensorBase& index, const TensorBase& plain) {
  return {
      op,
      sizes_of(index),
      strides_of(plain),
      without_dim(strides_of(indexed), dim),
      strides_of(index),
      dim_size(indexed, dim),
      dim_stride(indexed, dim),
      /*wrap=*/false,
      /*skip=*/INT64_MIN,
      dim};
}

/// The walk of the index_* operators: over the elements of `plain`, with a 1-D index along `dim`.
Walk slice_walk(
    const char* op, const TensorBase& indexed, int64_t dim, const TensorBase& index, const TensorBase& plain) {
  DimVector sizes = indexed.dim() == 0 ? DimVector{1} : sizes_of(indexed);
  sizes[dim] = index.numel();
  DimVector strides = plain.dim() == 0 ? DimVector(sizes.size(), 0) : strides_of(plain);
  return {
      op,
      sizes,
      strides,
      without_dim(strides_of(indexed), dim),
      along_dim(index, sizes.size(), dim),
      dim_size(indexed, dim),
      dim_stride(indexed, dim)};
}

template <std::uint64_t Dtypes>
void check_dtype(const char* op, const TensorBase& t, DtypeSet<Dtypes> set) {
  if (!set.contains(t.scalar_type())) {
    at::detail::dtype_not_supported(op, t.scalar_type(), Dtypes);
  }
}

constexpr auto kReal = kBooleans | kIntegral | kFloating;

} // namespace

// ---- gather and scatter ----------------------------------------------------------------------

void gather_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, bool, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const TensorBase places = as_long(index);
  gather_to(element_walk("gather", self, dim, places, out), places, out, self);
}

void scatter_src_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (index.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  scatter_to(element_walk("scatter", out, dim, places, src), places, out, src);
}

void scatter_value_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (index.numel() == 0) {
    return;
  }
  const ElementBytes element("scatter", self.scalar_type(), value);
  const TensorBase places = as_long(index);
  scatter_value_to(element_walk("scatter", out, dim, places, places), places, out, element.bytes);
}

namespace {

void scatter_op(
    const char* name,
    ScatterOp op,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (index.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  scatter_op_to(element_walk(name, out, dim, places, src), places, op, out, src);
}

} // namespace

void scatter_add_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src, const TensorBase& out) {
  check_dtype("scatter_add", self, kAll);
  scatter_op("scatter_add", ScatterOp::Add, self, dim, index, src, out);
}

void scatter_reduce_src_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce,
    const TensorBase& out) {
  if (reduce == "add") {
    return scatter_add_kernel(self, dim, index, src, out);
  }
  check_dtype("scatter", self, kReal);
  scatter_op("scatter", ScatterOp::Multiply, self, dim, index, src, out);
}

void scatter_reduce_value_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const Scalar& value,
    std::string_view reduce,
    const TensorBase& out) {
  scatter_reduce_src_kernel(self, dim, index, number_like(self, value, index.sizes()), reduce, out);
}

namespace {

/// Combines elements of `src` to those indices of `out` that an index leads to. walk_of(indexed, plain) is the walk by
/// it.
template <class WalkOf>
void reduce_into(
    const char* op,
    std::string_view reduce,
    bool include_self,
    const TensorBase& places,
    const TensorBase& src,
    const TensorBase& out,
    WalkOf walk_of) {
  const c10::ScalarType dtype = out.scalar_type();
  const double infinity = std::numeric_limits<double>::infinity();
  const bool floats = c10::isFloatingType(dtype);
  if (!include_self) {
    // What the indices that are written to start from.
    Scalar start = reduce == "prod" ? 1 : 0;
    if (reduce == "amax" || reduce == "amin") {
      const double sign = reduce == "amax" ? -1 : 1;
      start = floats ? Scalar(sign * infinity) : Scalar();
      if (!floats) {
        dispatch(op, dtype, kBooleans | kIntegral, [&]<class T> {
          start = sign < 0 ? Scalar(std::numeric_limits<T>::lowest()) : Scalar(std::numeric_limits<T>::max());
        });
      }
    }
    scatter_value_to(walk_of(out, src), places, out, ElementBytes(op, dtype, start).bytes);
  }
  const ScatterOp joined = reduce == "prod" ? ScatterOp::Multiply
      : reduce == "amax"                    ? ScatterOp::Max
      : reduce == "amin"                    ? ScatterOp::Min
                                            : ScatterOp::Add;
  scatter_op_to(walk_of(out, src), places, joined, out, src);
  if (reduce == "mean") {
    const Tensor counts = at::full(out.sizes(), include_self ? 1 : 0, Tensor(out).options().dtype(kLong));
    const Tensor ones = number_like(counts, 1, src.sizes());
    scatter_op_to(walk_of(counts, ones), places, ScatterOp::Add, counts, ones);
    const Tensor divisor = counts.clamp_min(1);
    copy_on_device(out, floats ? at::div(Tensor(out), divisor) : at::floor_divide(Tensor(out), divisor));
  }
}

} // namespace

void scatter_reduce_two_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& src,
    std::string_view reduce,
    bool include_self,
    const TensorBase& out) {
  check_dtype("scatter_reduce", self, kReal);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (index.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  reduce_into(
      "scatter_reduce", reduce, include_self, places, src, out,
      [&](const TensorBase& indexed, const TensorBase& plain) {
        return element_walk("scatter_reduce", indexed, dim, places, plain);
      });
}

// ---- along one dimension, whole slices -------------------------------------------------------

void index_select_kernel(const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const TensorBase places = as_long(index);
  gather_to(slice_walk("index_select", self, dim, places, out), places, out, self);
}

void index_add_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    const Scalar& alpha,
    const TensorBase& out) {
  check_dtype("index_add", self, kAll);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (source.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  const bool plain = !alpha.isComplex() && alpha.toDouble() == 1;
  if (plain || goes_in_order(ScatterOp::Add, self.scalar_type(), Order::OfThreads)) {
    const Tensor scaled = plain ? Tensor(source) : Tensor(source).mul(alpha);
    return scatter_op_to(slice_walk("index_add", out, dim, places, scaled), places, ScatterOp::Add, out, scaled);
  }
  const ElementBytes factor("index_add", self.scalar_type(), alpha);
  scatter_op_to(
      slice_walk("index_add", out, dim, places, source), places, ScatterOp::Add, out, source, Order::OfThreads, {},
      factor.bytes);
}

void index_reduce_kernel(
    const TensorBase& self,
    int64_t dim,
    const TensorBase& index,
    const TensorBase& source,
    std::string_view reduce,
    bool include_self,
    const TensorBase& out) {
  check_dtype("index_reduce", self, kReal);
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (source.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  reduce_into(
      "index_reduce", reduce, include_self, places, source, out,
      [&](const TensorBase& indexed, const TensorBase& plain) {
        return slice_walk("index_reduce", indexed, dim, places, plain);
      });
}

void index_copy_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& source, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (source.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  scatter_to(slice_walk("index_copy", out, dim, places, source), places, out, source);
}

void index_fill_kernel(
    const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, self.dim());
  start_from(self, out);
  if (index.numel() == 0 || out.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(index);
  const ElementBytes element("index_fill", self.scalar_type(), value);
  Walk walk = slice_walk("index_fill", out, dim, places, out);
  walk.wrap = true;
  scatter_value_to(walk, places, out, element.bytes);
}

void take_kernel(const TensorBase& self, const TensorBase& index, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const TensorBase values = self.contiguous(), places = as_long(index);
  const DimVector sizes = sizes_of(places);
  Walk walk{"take", sizes, strides_of(out), DimVector(sizes.size(), 0), strides_of(places), values.numel(), 1};
  walk.wrap = true;
  gather_to(walk, places, out, values);
}

// ---- tables ------------------------------------------------------------------------------------

void embedding_kernel(const TensorBase& weight, const TensorBase& indices, int64_t, bool, bool, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(indices);
  DimVector sizes(out.sizes().begin(), out.sizes().end());
  DimVector columns(sizes.size(), 0), index_strides(places.strides().begin(), places.strides().end());
  columns.back() = weight.stride(1);
  index_strides.push_back(0);
  const Walk walk{"embedding", sizes, strides_of(out), columns, index_strides, weight.size(0), weight.stride(0)};
  gather_to(walk, places, out, weight);
}

void embedding_dense_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& indices,
    int64_t num_weights,
    int64_t padding_idx,
    bool scale_grad_by_freq,
    const TensorBase& out) {
  check_dtype("embedding_backward", grad_output, kFloating | kComplex);
  out.zero_();
  if (grad_output.numel() == 0 || out.numel() == 0) {
    return;
  }
  const TensorBase places = as_long(indices);
  // A few indices need no sorting.
  if (kFloating.contains(out.scalar_type()) && places.numel() <= kFewIndices && out.stride(1) == 1) {
    const TensorBase index = places.contiguous(), grads = grad_output.contiguous();
    return launch_sum_rows(
        {index.numel(),
         index.const_data_ptr<int64_t>(),
         out.scalar_type(),
         grads.const_data_ptr(),
         out.mutable_data_ptr(),
         out.size(1),
         out.stride(0),
         padding_idx,
         scale_grad_by_freq,
         {index_error_slot(), "embedding_backward", "indices", num_weights},
         c10::cuda::getCurrentCUDAStream()});
  }
  // Sums of 16-bit gradients are kept in float.
  const bool narrow = c10::isReducedFloatingType(out.scalar_type());
  const Tensor sums = narrow ? at::zeros(out.sizes(), Tensor(out).options().dtype(kFloat)) : Tensor(out);
  Tensor grad = narrow ? Tensor(grad_output).to(kFloat) : Tensor(grad_output);
  if (scale_grad_by_freq) {
    const Tensor uses = at::zeros({num_weights}, Tensor(places).options());
    const Tensor ones = number_like(places, 1, places.sizes());
    const DimVector none(places.dim(), 0);
    const Walk count{
        "embedding_backward",
        DimVector(places.sizes().begin(), places.sizes().end()),
        none,
        none,
        DimVector(places.strides().begin(), places.strides().end()),
        num_weights,
        1,
        false,
        padding_idx};
    scatter_op_to(count, places, ScatterOp::Add, uses, ones);
    grad = grad / uses.take(Tensor(places).clamp(0, num_weights - 1)).clamp_min(1).unsqueeze(-1);
  }
  DimVector columns(grad.dim(), 0), index_strides(places.strides().begin(), places.strides().end());
  columns.back() = sums.stride(1);
  index_strides.push_back(0);
  const Walk walk{"embedding_backward", sizes_of(grad), strides_of(grad), columns, index_strides, num_weights,
                  sums.stride(0),       false,          padding_idx};
  scatter_op_to(walk, places, ScatterOp::Add, sums, grad, Order::OfElements);
  if (narrow) {
    copy_on_device(out, sums);
  }
}

} // namespace at::native::cuda
