// Indexing with batched tensors or indices. Indices stay indices of the dimension that they belong to, and a batch of
// them is an index of its own, so one that is out of range is found, and never reaches into another sample.
#include <aten/functorch/batch_rules.h>

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/library/library.h>
#include <aten/ops/arange.h>
#include <aten/ops/cat.h>
#include <aten/ops/index.h>
#include <aten/ops/index_add.h>
#include <aten/ops/index_copy.h>
#include <aten/ops/index_fill.h>
#include <aten/ops/index_put.h>
#include <aten/ops/index_reduce.h>
#include <aten/ops/index_select.h>
#include <aten/ops/scatter.h>
#include <aten/ops/scatter_add.h>
#include <aten/ops/scatter_reduce.h>
#include <aten/ops/where.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace at::functorch {

namespace {

using OptionalTensors = c10::List<std::optional<Tensor>>;

/// Indices of a call as tensors of integers; undefined ones stand for whole dimensions.
std::vector<Tensor> integer_indices(const OptionalTensors& given) {
  std::vector<Tensor> indices;
  for (const std::optional<Tensor> index : given) {
    const Tensor tensor = index.value_or(Tensor());
    if (!tensor.defined() || (tensor.scalar_type() != kBool && tensor.scalar_type() != kByte)) {
      indices.push_back(tensor);
      continue;
    }
    TORCH_CHECK(
        !isBatchedTensor(tensor),
        "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
        "with a boolean mask.");
    for (const Tensor& of_dimension : tensor.nonzero().unbind(1)) {
      indices.push_back(of_dimension);
    }
  }
  return indices;
}

/// How a result is laid out in which the dimensions of the indices stand for those that are indexed.
struct IndexLayout {
  explicit IndexLayout(const std::vector<Tensor>& indices) {
    int64_t runs = 0;
    bool in_run = false;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d].defined()) {
        first = runs == 0 ? static_cast<int64_t>(d) : first;
        runs += in_run ? 0 : 1;
        rank = std::max(rank, indices[d].dim());
      }
      in_run = indices[d].defined();
    }
    first = runs == 1 ? first : 0;
  }
  int64_t first = 0; // where the dimensions of indices begin
  int64_t rank = 0; // how many these are
};

/// Moves `count` dimensions from `from` to `to`.
Tensor move_dimensions(const Tensor& tensor, int64_t from, int64_t to, int64_t count) {
  std::vector<int64_t> sources, destinations;
  for (int64_t i = 0; i < count; ++i) {
    sources.push_back(from + i);
    destinations.push_back(to + i);
  }
  return from == to ? tensor : tensor.movedim(sources, destinations);
}

/// Indices for a tensor with the batch in front: that of the batch, and those of each sample.
OptionalTensors with_batch_index(
    const std::vector<Tensor>& indices, const IndexLayout& layout, const VmapLevel& level, const Device& device) {
  OptionalTensors all;
  c10::DimVector sizes(static_cast<size_t>(layout.rank) + 1, 1);
  sizes[0] = level.batch_size;
  all.push_back(at::arange(level.batch_size, TensorOptions(kLong).device(device)).view(sizes));
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      all.push_back(std::nullopt);
      continue;
    }
    const BatchedValue sample = value_at(index, level);
    all.push_back(sample.is_batched() ? pad_sample(sample.batch_first(), sample.rank(), layout.rank) : sample.value);
  }
  return all;
}

bool any_batched(const std::vector<Tensor>& indices, const VmapLevel& level) {
  return std::any_of(indices.begin(), indices.end(), [&](const Tensor& index) {
    return index.defined() && value_at(index, level).is_batched();
  });
}

VmapLevelPtr level_with(std::vector<Tensor> tensors, const std::vector<Tensor>& indices, const char* op) {
  tensors.insert(tensors.end(), indices.begin(), indices.end());
  return level_of(tensors, op);
}

Tensor index(const Tensor& self, const OptionalTensors& given) {
  const std::vector<Tensor> indices = integer_indices(given);
  const IndexLayout layout(indices);
  const VmapLevelPtr level = level_with({self}, indices, "index");
  if (!level) { // batched by a mask alone, which is none now
    return at::index(self, given);
  }
  const BatchedValue sample = value_at(self, *level);
  if (!any_batched(indices, *level)) {
    OptionalTensors behind_batch;
    behind_batch.push_back(std::nullopt);
    for (const Tensor& tensor : indices) {
      behind_batch.push_back(tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt);
    }
    const Tensor result = at::index(sample.batch_first(), behind_batch);
    const bool in_front =
        layout.first == 0 && !indices.empty() && IndexLayout(integer_indices(behind_batch)).first == 0;
    return makeBatched(result, in_front ? layout.rank : 0, level);
  }
  const Tensor result =
      at::index(sample.with_batch(level->batch_size), with_batch_index(indices, layout, *level, self.device()));
  // The index of the batch is in front, and those next to it, or apart from it, follow.
  return makeBatched(move_dimensions(result, 1, 1 + layout.first, layout.rank), 0, level);
}

/// Sizes of what is indexed, as at::index would give it.
int64_t rank_of_result(const Tensor& self, const std::vector<Tensor>& indices, const IndexLayout& layout) {
  const auto indexed = std::count_if(indices.begin(), indices.end(), [](const Tensor& t) { return t.defined(); });
  return self.dim() - static_cast<int64_t>(indexed) + layout.rank;
}

/// Writes into `target`, which has the batch in front.
void put_into(
    const Tensor& target,
    const Tensor& self,
    const std::vector<Tensor>& indices,
    const Tensor& values,
    bool accumulate,
    const VmapLevel& level) {
  const IndexLayout layout(indices);
  const BatchedValue given = value_at(values, level);
  const int64_t rank = std::max(rank_of_result(self, indices, layout), given.rank());
  const Tensor padded =
      pad_sample(given.is_batched() ? given.batch_first() : given.value.unsqueeze(0), given.rank(), rank);
  const Tensor ordered = move_dimensions(padded, 1 + layout.first, 1, layout.rank);
  target.index_put_(with_batch_index(indices, layout, level, self.device()), ordered, accumulate);
}

bool is_batched_mask(const Tensor& index) {
  return isBatchedTensor(index) && (index.scalar_type() == kBool || index.scalar_type() == kByte);
}

/// What self[mask] = values makes of self, where the mask has a batch and all its places get one value: how many these
/// are differs, but not what is chosen from. Undefined for other indices.
Tensor put_by_mask(const Tensor& self, const OptionalTensors& given, const Tensor& values, bool accumulate) {
  int64_t place = 0, defined = 0;
  Tensor mask;
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor index = given.get(i).value_or(Tensor());
    defined += index.defined() ? 1 : 0;
    if (index.defined() && is_batched_mask(index)) {
      mask = index;
      place = static_cast<int64_t>(i);
    }
  }
  if (!mask.defined() || defined != 1 || mask.dim() == 0) {
    return {};
  }
  const int64_t behind = self.dim() - place - mask.dim(); // dimensions
  TORCH_CHECK_INDEX(
      behind >= 0 && mask.sizes() == self.sizes().slice(static_cast<size_t>(place), mask.sizes().size()),
      "The shape of the mask ", mask.sizes(), " at index ", place, " does not match the shape of the indexed tensor ",
      self.sizes());
  const int64_t along_places = values.dim() - 1 - behind;
  if (along_places >= 0 && values.size(along_places) != 1) {
    return {};
  }
  Tensor value = values.to(self.scalar_type());
  if (along_places >= 0) {
    value = value.squeeze(along_places);
    for (int64_t d = 0; d < mask.dim(); ++d) {
      value = value.unsqueeze(along_places);
    }
  }
  Tensor chosen = mask.to(kBool);
  for (int64_t d = 0; d < behind; ++d) {
    chosen = chosen.unsqueeze(-1);
  }
  return at::where(chosen, accumulate ? self + value : value, self);
}

Tensor& index_put_(Tensor& self, const OptionalTensors& given, const Tensor& values, bool accumulate) {
  if (const Tensor result = put_by_mask(self, given, values, accumulate); result.defined()) {
    return self.copy_(result);
  }
  const std::vector<Tensor> indices = integer_indices(given);
  const VmapLevelPtr level = level_with({self, values}, indices, "index_put_");
  if (!level) {
    return self.index_put_(given, values, accumulate);
  }
  const BatchedValue sample = value_at(self, *level);
  TORCH_CHECK(
      sample.is_batched(),
      "vmap: index_put_(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
      "has "
      "more elements than `self`: it would write the samples of a vmap over `other` into one tensor that is not "
      "vmapped "
      "over. Use index_put, or vmap over `self` too");
  put_into(sample.batch_first(), self, indices, values, accumulate, *level);
  unsafeGetBatchedImpl(self)->refresh_metadata();
  return self;
}

Tensor& index_put_impl_(
    Tensor& self, const OptionalTensors& given, const Tensor& values, bool accumulate, bool /*unsafe*/) {
  return functorch::index_put_(self, given, values, accumulate);
}

Tensor index_put(const Tensor& self, const OptionalTensors& given, const Tensor& values, bool accumulate) {
  if (Tensor result = put_by_mask(self, given, values, accumulate); result.defined()) {
    return result;
  }
  const std::vector<Tensor> indices = integer_indices(given);
  const VmapLevelPtr level = level_with({self, values}, indices, "index_put");
  if (!level) {
    return at::index_put(self, given, values, accumulate);
  }
  const Tensor target = value_at(self, *level).with_batch(level->batch_size).clone(MemoryFormat::Contiguous);
  put_into(target, self, indices, values, accumulate, *level);
  return makeBatched(target, 0, level);
}

// ---- one index along one dimension
// -----------------------------------------------------------------------------------

/// A vector of indices as indices of each element: of the sizes of `like`, along `dim`.
Tensor along(const Tensor& index, int64_t dim, IntArrayRef like) {
  c10::DimVector sizes(like.size(), 1);
  sizes[static_cast<size_t>(dim)] = index.numel();
  c10::DimVector expanded(like.begin(), like.end());
  expanded[static_cast<size_t>(dim)] = index.numel();
  return index.reshape(sizes).expand(expanded);
}

bool has_batch(const Tensor& tensor) {
  return isBatchedTensor(tensor);
}

/// The operator with an index that is the same for all samples.
template <class Function>
Tensor with_shared_index(const Tensor& self, int64_t dim, const std::vector<Tensor>& others, const Function& function) {
  std::vector<Tensor> all = others;
  all.push_back(self);
  const VmapLevelPtr level = level_of(all, "index");
  const int64_t batch = level->batch_size;
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim()) + 1;
  const auto value = [&](const Tensor& tensor) {
    const BatchedValue sample = value_at(tensor, *level);
    const Tensor all_samples = sample.with_batch(batch);
    return sample.rank() == 0 && self.dim() == 0 ? all_samples.unsqueeze(1) : all_samples;
  };
  std::vector<Tensor> values;
  for (const Tensor& other : others) {
    values.push_back(value(other));
  }
  Tensor result = function(value(self), place, values);
  return makeBatched(self.dim() == 0 ? result.squeeze(1) : result, 0, level);
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  if (!has_batch(index)) {
    return with_shared_index(self, dim, {}, [&](const Tensor& value, int64_t place, const std::vector<Tensor>&) {
      return at::index_select(value, place, index);
    });
  }
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  if (self.dim() == 0) {
    c10::maybe_wrap_dim(dim, 0);
    return self.unsqueeze(0).gather(0, index.reshape({index.numel()})).reshape({});
  }
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  return self.gather(place, along(index, place, self.sizes()));
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  if (!has_batch(index)) {
    return with_shared_index(
        self, dim, {source}, [&](const Tensor& value, int64_t place, const std::vector<Tensor>& others) {
          return at::index_add(value, place, index, others[0], alpha);
        });
  }
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  const Tensor scaled = alpha.equal(1) ? source : source * alpha;
  return self.dim() == 0 ? self + scaled.reshape({})
                         : self.scatter_add(place, along(index, place, source.sizes()), scaled);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (!has_batch(index)) {
    return with_shared_index(
        self, dim, {source}, [&](const Tensor& value, int64_t place, const std::vector<Tensor>& others) {
          return at::index_copy(value, place, index, others[0]);
        });
  }
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  return self.dim() == 0 ? source.reshape({}).clone()
                         : at::scatter(self, place, along(index, place, source.sizes()), source);
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  if (!has_batch(index)) {
    return with_shared_index(self, dim, {}, [&](const Tensor& samples, int64_t place, const std::vector<Tensor>&) {
      return at::index_fill(samples, place, index, value);
    });
  }
  const Tensor vector = self.dim() == 0 ? self.unsqueeze(0) : self;
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  const Tensor filled = at::scatter(vector, place, along(index, place, vector.sizes()), value);
  return self.dim() == 0 ? filled.squeeze(0) : filled;
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TORCH_CHECK(
      value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
      " dimension(s).");
  const Tensor vector = self.dim() == 0 ? self.unsqueeze(0) : self;
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  c10::DimVector sizes(vector.sizes().begin(), vector.sizes().end());
  sizes[static_cast<size_t>(place)] = index.numel();
  const Tensor filled =
      at::index_copy(vector, place, index.reshape({index.numel()}), value.to(self.scalar_type()).expand(sizes));
  return self.dim() == 0 ? filled.squeeze(0) : filled;
}

Tensor index_reduce(
    const Tensor& self,
    int64_t dim,
    const Tensor& index,
    const Tensor& source,
    std::string_view reduce,
    bool include_self) {
  if (!has_batch(index)) {
    return with_shared_index(
        self, dim, {source}, [&](const Tensor& value, int64_t place, const std::vector<Tensor>& others) {
          return at::index_reduce(value, place, index, others[0], reduce, include_self);
        });
  }
  const bool is_number = self.dim() == 0;
  const Tensor vector = is_number ? self.unsqueeze(0) : self;
  const Tensor sources = source.dim() == 0 ? source.unsqueeze(0) : source;
  const int64_t place = c10::maybe_wrap_dim(dim, self.dim());
  const Tensor reduced =
      at::scatter_reduce(vector, place, along(index, place, sources.sizes()), sources, reduce, include_self);
  return is_number ? reduced.squeeze(0) : reduced;
}

// ---- places in all of a tensor
// ---------------------------------------------------------------------------------------

Tensor take(const Tensor& self, const Tensor& index) {
  OptionalTensors indices;
  indices.push_back(index);
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  return at::index(self.reshape({-1}), indices);
}

Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  OptionalTensors indices;
  indices.push_back(index.reshape({-1}));
  TORCH_CHECK_INDEX(
      index.numel() == source.numel(),
      "put_(): Expected source and index to have the same number of elements, but got ",
      "source.numel() = ", source.numel(), ", index.numel() = ", index.numel());
  return self.copy_(at::index_put(self.reshape({-1}), indices, source.reshape({-1}), accumulate).view(self.sizes()));
}

// The elements of the source by how many places of the mask come before. Where nothing is put, a zero in front of them
// is taken, so that a source with too few elements is refused by its index.
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(),
      "masked_scatter: expected self and source to have same dtypes but got ", self.scalar_type(), " and ",
      source.scalar_type());
  TORCH_CHECK(
      mask.scalar_type() == kBool, "masked_scatter: only supports boolean masks, but got mask with dtype ",
      mask.scalar_type());
  const c10::DimVector sizes = infer_size_dimvector(self.sizes(), mask.sizes());
  const Tensor is_put = mask.expand(sizes);
  const Tensor places = is_put.reshape({-1}).cumsum(0).mul(is_put.reshape({-1}));
  const Tensor elements = at::cat({source.new_zeros({1}), source.reshape({-1})});
  return at::where(is_put, elements.index_select(0, places).view(sizes), self);
}

/// What one mask chooses has the same size in each sample.
Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(
      !isBatchedTensor(mask),
      "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
      "aten::masked_select with a mask for each sample, which may choose another number of elements in each. Use "
      "where(), or call it outside of vmap");
  const std::vector<int64_t> sizes = at::infer_size(self.sizes(), mask.sizes());
  const Tensor places = mask.expand(sizes).reshape({-1}).nonzero().squeeze(1);
  return self.expand(sizes).reshape({-1}).index_select(0, places);
}

constexpr c10::impl::BuiltinKernelRow kIndexingRules[] = {
    rule_for<&index>("aten::index", "Tensor"),
    rule_for<&index_put_>("aten::index_put_"),
    rule_for<&index_put_impl_>("aten::_index_put_impl_"),
    rule_for<&index_put>("aten::index_put"),
    rule_for<&index_select>("aten::index_select"),
    rule_for<&index_add>("aten::index_add"),
    rule_for<&index_copy>("aten::index_copy"),
    rule_for<&index_fill>("aten::index_fill", "int_Scalar"),
    rule_for<&index_fill_tensor>("aten::index_fill", "int_Tensor"),
    rule_for<&index_reduce>("aten::index_reduce"),
    rule_for<&take>("aten::take"),
    rule_for<&put_>("aten::put_"),
    rule_for<&masked_scatter>("aten::masked_scatter"),
    rule_for<&masked_select>("aten::masked_select"),
};
const c10::impl::BuiltinKernels kIndexingRulesRegistered(kIndexingRules);

} // namespace

} // namespace at::functorch
