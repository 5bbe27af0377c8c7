// Indexing by tensors and masks on CUDA devices: index, index_put_, masked_select, masked_scatter_, put_.
//
// The indices of all dimensions are folded into one tensor of offsets; then it is one gather or scatter.
#include <aten/ExpandUtils.h>
#include <aten/Functions.h>
#include <aten/MemoryOverlap.h>
#include <aten/core/ivalue.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/index_walk.h>
#include <aten/native/expanded_targets.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <vector>

namespace at::native {

namespace {

using c10::DimVector;
using Indices = c10::List<std::optional<Tensor>>;

struct IndexedDim {
  int64_t dim;
  Tensor index; // int64, on self's device
};

std::vector<IndexedDim> collect(const Tensor& self, const Indices& indices) {
  std::vector<IndexedDim> result;
  int64_t dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> given = indices.get(i);
    if (!given || !given->defined()) {
      ++dim;
      continue;
    }
    const Tensor& index = *given;
    const ScalarType dtype = index.scalar_type();
    TORCH_CHECK(
        index.device() == self.device() || index.device().is_cpu(), "indices should be either on ", kCPU,
        " or on the same device as the indexed tensor (", self.device(), ")");
    if (dtype == kBool || dtype == kByte) {
      for (int64_t d = 0; d < index.dim(); ++d) {
        TORCH_CHECK_INDEX(
            dim + d < self.dim() && index.size(d) == self.size(dim + d), "The shape of the mask ", index.sizes(),
            " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(), " at index ", dim + d);
      }
      const Tensor places = index.to(self.device()).nonzero();
      for (int64_t d = 0; d < index.dim(); ++d) {
        result.push_back({dim + d, places.select(1, d)});
      }
      dim += index.dim();
      continue;
    }
    TORCH_CHECK_INDEX(
        dtype == kLong || dtype == kInt, "tensors used as indices must be long, byte or bool tensors (int is taken too); got ", dtype);
    result.push_back({dim, index.to(self.device(), kLong)});
    ++dim;
  }
  TORCH_CHECK_INDEX(dim <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", dim, ")");
  return result;
}

std::string shapes_of(const std::vector<IndexedDim>& dims) {
  std::string text;
  for (const IndexedDim& d : dims) {
    text += (text.empty() ? "" : ", ") + c10::str(d.index.sizes());
  }
  return text;
}

/// Advanced indexing of `self` worked out, but for the strides of what stands opposite.
struct Plan {
  cuda::Walk walk; // walk.sizes are the result's
  Tensor offsets;
};

Plan plan_index(const char* op, const Tensor& self, const Indices& indices) {
  const std::vector<IndexedDim> dims = collect(self, indices);
  DimVector index_sizes;
  for (const IndexedDim& d : dims) {
    TORCH_CHECK_INDEX(
        at::are_expandable(index_sizes, d.index.sizes()),
        "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes_of(dims));
    index_sizes = at::infer_size_dimvector(index_sizes, d.index.sizes());
  }
  Plan plan{{op, {}, {}, {}, {}, 0, 1, false, cuda::kNoOffset}, at::zeros(index_sizes, self.options().dtype(kLong))};
  const int64_t count = plan.offsets.numel();
  TORCH_CHECK(
      count <= INT32_MAX && index_sizes.size() <= cuda::kMaxDims, op, ": on CUDA up to ", cuda::kMaxDims,
      " dimensions and 2^31 - 1 elements are supported, got indices of ", IntArrayRef(index_sizes));
  for (const IndexedDim& d : dims) {
    if (count == 0) {
      continue;
    }
    const Tensor index = d.index.expand(index_sizes);
    const int rank = static_cast<int>(index_sizes.size());
    const DimVector fastest_first(index_sizes.rbegin(), index_sizes.rend());
    cuda::launch_index_offsets(
        {static_cast<std::uint32_t>(count),
         cuda::OffsetCalculator<1>(rank, fastest_first, [&](int k, int) { return index.stride(rank - 1 - k); }),
         index.const_data_ptr<int64_t>(), self.stride(d.dim), plan.offsets.mutable_data_ptr<int64_t>(),
         {cuda::index_error_slot(), op, self.size(d.dim)}, c10::cuda::getCurrentCUDAStream()});
  }
  std::vector<bool> indexed(self.dim());
  for (const IndexedDim& d : dims) {
    indexed[d.dim] = true;
  }
  // Indexed dimensions side by side are replaced where they stand, else the result starts with them.
  const auto first = std::find(indexed.begin(), indexed.end(), true);
  const auto last = std::find(indexed.rbegin(), indexed.rend(), true).base();
  const bool adjacent = !dims.empty() && std::all_of(first, last, [](bool b) { return b; });
  const int64_t place = adjacent ? first - indexed.begin() : 0;
  const auto add_dim = [&](int64_t size, int64_t stride, int64_t index_stride) {
    plan.walk.sizes.push_back(size);
    plan.walk.indexed.push_back(stride);
    plan.walk.index_strides.push_back(index_stride);
  };
  const auto add_index = [&] {
    for (int64_t d = 0; d < plan.offsets.dim(); ++d) {
      add_dim(plan.offsets.size(d), 0, plan.offsets.stride(d));
    }
  };
  bool added = false;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!added && d >= place) {
      add_index();
      added = true;
    }
    if (!indexed[d]) {
      add_dim(self.size(d), self.stride(d), 0);
    }
  }
  if (!added) {
    add_index();
  }
  // Offsets are checked already; this bounds them all the same.
  plan.walk.size = INT64_MAX;
  return plan;
}

DimVector strides_of(const Tensor& t) {
  return DimVector(t.strides().begin(), t.strides().end());
}

} // namespace

Tensor index_cuda(const Tensor& self, const Indices& indices) {
  Plan plan = plan_index("index", self, indices);
  Tensor result = at::empty(plan.walk.sizes, self.options());
  if (result.numel() != 0) {
    plan.walk.plain = strides_of(result);
    cuda::launch_gather(
        cuda::walk_of(plan.walk, plan.offsets), self.itemsize(), result.mutable_data_ptr(), self.const_data_ptr());
  }
  return result;
}

Tensor& _index_put_impl_cuda_(
    Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool /*unsafe*/) {
  warn_if_index_put_target_is_expanded(self);
  TORCH_CHECK_INDEX(
      self.scalar_type() == values.scalar_type(), "Index put requires the source and destination dtypes match, got ",
      self.scalar_type(), " for the destination and ", values.scalar_type(), " for the source.");
  Plan plan = plan_index("index_put_", self, indices);
  TORCH_CHECK(
      at::is_expandable_to(values.sizes(), plan.walk.sizes), "shape mismatch: value tensor of shape ", values.sizes(),
      " cannot be broadcast to indexing result of shape ", IntArrayRef(plan.walk.sizes));
  Tensor source = values.to(self.device()).expand(plan.walk.sizes);
  if (source.numel() == 0) {
    return self;
  }
  if (at::get_overlap_status(self, source) != at::MemOverlapStatus::No) {
    source = source.clone();
  }
  plan.walk.plain = strides_of(source);
  if (accumulate) {
    if (!kAll.contains(self.scalar_type())) {
      at::detail::dtype_not_supported("index_put", self.scalar_type(), kAll.bits);
    }
    cuda::scatter_op_to(plan.walk, plan.offsets, cuda::ScatterOp::Add, self, source);
  } else {
    cuda::scatter_to(plan.walk, plan.offsets, self, source);
  }
  return self;
}

Tensor masked_select_cuda(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(
      mask.scalar_type() == kBool, "masked_select: expected BoolTensor or ByteTensor for mask (bool only here), got ", mask.scalar_type());
  const DimVector sizes = at::infer_size_dimvector(mask.sizes(), self.sizes());
  Indices indices;
  indices.push_back(mask.expand(sizes).reshape({-1}));
  return index_cuda(self.expand(sizes).reshape({-1}), indices);
}

Tensor& masked_scatter_cuda_(Tensor& self, const Tensor& mask, const Tensor& source) {
  TORCH_CHECK(
      mask.scalar_type() == kBool, "masked_scatter_ only supports boolean masks, but got mask with dtype ", mask.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(), "masked_scatter: expected self and source to have same dtypes but got ",
      self.scalar_type(), " and ", source.scalar_type());
  const Tensor places = mask.expand(self.sizes()).nonzero();
  const int64_t count = places.size(0);
  TORCH_CHECK(
      source.numel() >= count, "Number of elements of source < number of ones in mask (", source.numel(), " < ", count, ")");
  Indices indices;
  for (int64_t d = 0; d < self.dim(); ++d) {
    indices.push_back(places.select(1, d));
  }
  return _index_put_impl_cuda_(self, indices, source.reshape({-1}).narrow(0, 0, count), false, false);
}

Tensor& put_cuda_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TORCH_CHECK(
      index.scalar_type() == kLong, "put_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(), "put_(): self and source expected to have the same dtype, but got self.dtype = ",
      self.scalar_type(), " and source.dtype = ", source.scalar_type());
  TORCH_CHECK_INDEX(
      source.numel() == index.numel(), "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
      source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, "put_(): Tried to put elements into an empty tensor");
  if (index.numel() == 0) {
    return self;
  }
  Tensor flat = self.reshape({-1});
  Indices indices;
  indices.push_back(index.reshape({-1}));
  _index_put_impl_cuda_(flat, indices, source.reshape({-1}), accumulate, false);
  if (!self.is_contiguous()) {
    self.copy_(flat.view(self.sizes())); // where flat is a copy
  }
  return self;
}

} // namespace at::native
