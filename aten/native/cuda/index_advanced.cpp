// Indexing by tensors and masks on CUDA devices: index, index_put_, masked_select, masked_scatter_, put_.
//
// It is one gather or scatter by all indices. Where elements are to come in their order, or indices are very many,
// those of several dimensions are folded into one tensor of offsets before.
#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/List.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cuda/index_walk.h>
#include <aten/native/cuda/sort.h>
#include <aten/native/support/expanded_targets.h>
#include <aten/native/support/index_support.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace at::native {

namespace {

using c10::DimVector;
using Indices = c10::List<std::optional<Tensor>>;

struct IndexedDim {
  int64_t dim;
  Tensor index; // int64, on self's device
};
using IndexedDims = c10::SmallVector<IndexedDim, 4>;

void check_index_device(const Tensor& self, const Tensor& index) {
  TORCH_CHECK(
      index.device() == self.device() || index.device().is_cpu(), "indices should be either on ", kCPU,
      " or on the same device as the indexed tensor (", self.device(), ")");
}

// Checks come in the order of aten/native/cpu/generic/index.cpp.
IndexedDims collect(const Tensor& self, const Indices& indices) {
  check_index_tensors(self, indices);
  IndexedDims result;
  int64_t dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> given = indices.get(i);
    if (!given || !given->defined()) {
      ++dim;
      continue;
    }
    const Tensor& index = *given;
    const ScalarType dtype = index.scalar_type();
    if (dtype == kByte) {
      TORCH_WARN("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    }
    if (dtype == kBool || dtype == kByte) {
      for (int64_t d = 0; d < index.dim(); ++d) {
        TORCH_CHECK_INDEX(
            index.size(d) == self.size(dim + d), "The shape of the mask ", index.sizes(), " at index ", d,
            " does not match the shape of the indexed tensor ", self.sizes(), " at index ", dim + d);
      }
      check_index_device(self, index);
      const Tensor places = index.to(self.device()).nonzero();
      for (int64_t d = 0; d < index.dim(); ++d) {
        result.push_back({dim + d, places.select(1, d)});
      }
      dim += index.dim();
      continue;
    }
    check_index_device(self, index);
    const bool ready = dtype == kLong && index.device() == self.device();
    result.push_back({dim, ready ? index : index.to(self.device(), kLong)});
    ++dim;
  }
  TORCH_CHECK_INDEX(dim <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", dim, ")");
  return result;
}

std::string shapes_of(const IndexedDims& dims) {
  std::string text;
  for (const IndexedDim& d : dims) {
    text += (text.empty() ? "" : ", ") + c10::str(d.index.sizes());
  }
  return text;
}

/// Advanced indexing of `self` worked out, but for what stands opposite and the index.
struct Plan {
  cuda::Walk walk; // over the result; an index of its own is still to be made, contiguous in `index_sizes`
  IndexedDims dims;
  DimVector index_sizes; // broadcast shape of the indices
  int64_t place = 0; // of the first of them among the result's dimensions
};

Plan plan_index(const char* op, const Tensor& self, const Indices& indices) {
  Plan plan{{op, {}, {}, {}, {}, 0, 0}, collect(self, indices), {}, 0};
  plan.walk.argument = "indices";
  DimVector& index_sizes = plan.index_sizes;
  for (const IndexedDim& d : plan.dims) {
    TORCH_CHECK_INDEX(
        at::are_expandable(index_sizes, d.index.sizes()),
        "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes_of(plan.dims));
    index_sizes = index_sizes.empty() ? DimVector(d.index.sizes().begin(), d.index.sizes().end())
                                      : at::infer_size_dimvector(index_sizes, d.index.sizes());
  }
  const bool takes_some = std::find(index_sizes.begin(), index_sizes.end(), 0) == index_sizes.end();
  c10::SmallVector<bool, 8> indexed(self.dim(), false);
  for (const IndexedDim& d : plan.dims) {
    TORCH_CHECK_INDEX(
        !takes_some || self.size(d.dim) != 0, "index is out of bounds for dimension with size 0 (dimension ", d.dim,
        ")");
    indexed[d.dim] = true;
  }
  // Indexed dimensions side by side are replaced where they stand, else the result starts with them.
  const auto first = std::find(indexed.begin(), indexed.end(), true);
  const auto last = std::find(indexed.rbegin(), indexed.rend(), true).base();
  const bool adjacent = !plan.dims.empty() && std::all_of(first, last, [](bool b) { return b; });
  plan.place = adjacent ? first - indexed.begin() : 0;
  const auto add_dim = [&](int64_t size, int64_t stride, int64_t index_stride) {
    plan.walk.sizes.push_back(size);
    plan.walk.indexed.push_back(stride);
    plan.walk.index_strides.push_back(index_stride);
  };
  int64_t step = std::accumulate(index_sizes.begin(), index_sizes.end(), int64_t{1}, std::multiplies<>());
  const auto add_index = [&] {
    for (const int64_t size : index_sizes) {
      step /= std::max<int64_t>(size, 1);
      add_dim(size, 0, step);
    }
  };
  bool added = false;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!added && d >= plan.place) {
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
  return plan;
}

/// Strides of `t` expanded to `sizes`, at `index` among `ndim` dimensions.
DimVector expanded_strides(const Tensor& t, IntArrayRef sizes, size_t ndim, int64_t place = 0) {
  DimVector strides(ndim, 0);
  const int64_t missing = static_cast<int64_t>(sizes.size()) - t.dim();
  for (int64_t d = 0; d < t.dim(); ++d) {
    strides[place + missing + d] = t.size(d) == 1 ? 0 : t.stride(d);
  }
  return strides;
}

DimVector index_strides(const Plan& plan, const Tensor& index) {
  return expanded_strides(index, plan.index_sizes, plan.walk.sizes.size(), plan.place);
}

/// `t`, or a copy of it where writing to `self` may change it.
Tensor unchanged_by_writes(const Tensor& self, const Tensor& t) {
  const bool apart = !self.is_alias_of(t) || at::get_overlap_status(self, t) == at::MemOverlapStatus::No;
  return apart ? t : t.clone();
}

/// Where several indices lead to together, at each position of their broadcast shape.
Tensor folded_index(Plan& plan, const Tensor& self) {
  cuda::Walk& walk = plan.walk;
  // Offsets are checked already; this bounds them all the same. They count the elements that all of them are multiples
  // of.
  int64_t unit = 0;
  for (const IndexedDim& d : plan.dims) {
    unit = std::gcd(unit, self.stride(d.dim));
  }
  walk.size = INT64_MAX;
  walk.step = std::max<int64_t>(unit, 1);
  walk.skip = cuda::kNoOffset;
  const Tensor offsets = at::zeros(plan.index_sizes, self.options().dtype(kLong));
  for (const IndexedDim& d : plan.dims) {
    cuda::add_index_offsets(
        d.index.expand(plan.index_sizes), self.stride(d.dim) / walk.step,
        {cuda::index_error_slot(), walk.op, "indices", self.size(d.dim), d.dim}, offsets);
  }
  return offsets;
}

/// The index to walk by, which the plan is completed for. Not called where the result has no elements: values that lead
/// nowhere are not looked at.
Tensor index_for(Plan& plan, const Tensor& self, bool in_order) {
  const size_t count = plan.dims.size();
  if (count == 0 || (count > 1 && in_order) || count > cuda::kMostIndices) {
    return folded_index(plan, self);
  }
  cuda::Walk& walk = plan.walk;
  const IndexedDim& first = plan.dims[0];
  walk.index_strides = index_strides(plan, first.index);
  walk.size = self.size(first.dim);
  walk.step = self.stride(first.dim);
  walk.wrap = true;
  walk.dim = first.dim;
  for (size_t i = 1; i < count; ++i) {
    const IndexedDim& d = plan.dims[i];
    walk.others.push_back(
        {d.index.const_data_ptr<int64_t>(), index_strides(plan, d.index), self.size(d.dim), self.stride(d.dim), d.dim});
  }
  return first.index;
}

int64_t elements_of(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// A result that lies in memory as self and the indices do.
Tensor empty_result(const Plan& plan, const Tensor& self) {
  const DimVector& sizes = plan.walk.sizes;
  const bool by_rows = self.is_contiguous() &&
      std::all_of(plan.dims.begin(), plan.dims.end(), [](const IndexedDim& d) { return d.index.is_contiguous(); });
  if (by_rows) {
    return at::empty_contiguous(sizes, self.scalar_type(), self.device());
  }
  std::vector<DimVector> operands = {plan.walk.indexed};
  for (const IndexedDim& d : plan.dims) {
    operands.push_back(index_strides(plan, d.index));
  }
  return at::empty_strided(sizes, index_result_strides(sizes, operands), self.options());
}

} // namespace

Tensor index_cuda(const Tensor& self, const Indices& indices) {
  Plan plan = plan_index("index", self, indices);
  Tensor result = empty_result(plan, self);
  if (result.numel() != 0) {
    plan.walk.plain = DimVector(result.strides().begin(), result.strides().end());
    const Tensor index = index_for(plan, self, /*in_order=*/false);
    cuda::gather_to(plan.walk, index, result, self);
  }
  return result;
}

Tensor& _index_put_impl_cuda_(
    Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool /*unsafe*/) {
  Plan plan = plan_index("index_put_", self, indices);
  warn_if_index_put_target_is_expanded(self);
  const IntArrayRef sizes = plan.walk.sizes;
  TORCH_CHECK(
      at::is_expandable_to(values.sizes(), sizes), "shape mismatch: value tensor of shape ", values.sizes(),
      " cannot be broadcast to indexing result of shape ", sizes);
  TORCH_CHECK(
      self.scalar_type() == values.scalar_type(), "Index put requires the source and destination dtypes match, got ",
      self.scalar_type(), " for the destination and ", values.scalar_type(), " for the source.");
  const Tensor source = unchanged_by_writes(self, values.device() == self.device() ? values : values.to(self.device()));
  if (elements_of(sizes) == 0) {
    return self;
  }
  if (accumulate && !kAll.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("index_put", self.scalar_type(), kAll.bits);
  }
  plan.walk.plain = expanded_strides(source, sizes, sizes.size());
  for (IndexedDim& d : plan.dims) {
    d.index = unchanged_by_writes(self, d.index);
  }
  const Tensor index = index_for(plan, self, accumulate || at::globalContext().deterministicAlgorithms());
  if (accumulate) {
    // Gradients of indexing come this way: they are the same from run to run, as in PyTorch.
    cuda::scatter_op_to(plan.walk, index, cuda::ScatterOp::Add, self, source, cuda::Order::OfElements);
  } else {
    cuda::scatter_to(plan.walk, index, self, source);
  }
  return self;
}

Tensor masked_select_cuda(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(
      mask.scalar_type() == kBool, "masked_select: expected BoolTensor or ByteTensor for mask (bool only here), got ",
      mask.scalar_type());
  const DimVector sizes = at::infer_size_dimvector(mask.sizes(), self.sizes());
  Indices indices;
  indices.push_back(mask.expand(sizes).reshape({-1}));
  return index_cuda(self.expand(sizes).reshape({-1}), indices);
}

Tensor& masked_scatter_cuda_(Tensor& self, const Tensor& mask, const Tensor& source) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(),
      "masked_scatter: expected self and source to have same dtypes but got", self.scalar_type(), " and ",
      source.scalar_type());
  TORCH_CHECK(
      mask.scalar_type() == kBool,
      "Mask tensor can take 0 and 1 values only: masked_scatter_ only supports boolean masks, but got mask with dtype ",
      mask.scalar_type());
  const Tensor flags = mask.expand(self.sizes()).contiguous();
  if (self.numel() == 0) {
    return self;
  }
  // The host does not wait for the number of indices: the kernel finds out that elements are too few.
  const Tensor target = self.contiguous(), values = unchanged_by_writes(target, source.contiguous());
  const auto options = self.options().dtype(kLong);
  const Tensor positions = at::empty({self.numel()}, options), count = at::empty({}, options);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  cuda::launch_find_true(
      static_cast<const std::uint8_t*>(flags.const_data_ptr()), self.numel(), positions.mutable_data_ptr<int64_t>(),
      count.mutable_data_ptr<int64_t>(), stream);
  const cuda::MaskedScatter p{
      self.numel(),
      positions.const_data_ptr<int64_t>(),
      count.const_data_ptr<int64_t>(),
      {cuda::index_error_slot(), "masked_scatter_", "source", source.numel()},
      stream};
  cuda::launch_masked_scatter(p, self.itemsize(), target.mutable_data_ptr(), values.const_data_ptr());
  return target.is_same(self) ? self : self.copy_(target);
}

Tensor& put_cuda_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  TORCH_CHECK(index.scalar_type() == kLong, "put_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(),
      "put_(): self and source expected to have the same dtype, but got self.dtype = ", self.scalar_type(),
      " and source.dtype = ", source.scalar_type());
  TORCH_CHECK_INDEX(
      source.numel() == index.numel(),
      "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
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
