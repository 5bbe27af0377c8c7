// Views of batched tensors whose arguments are sizes or strides, or that have none. The others go by the rule `dims`.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/native/support/view_support.h>
#include <aten/ops/_reshape_alias.h>
#include <aten/ops/_unsafe_view.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace at::functorch {

namespace {

using c10::DimVector;

/// Value and level of the only tensor of a call.
struct Unwrapped {
  explicit Unwrapped(const Tensor& self, const char* op)
      : level(level_of({self}, op)), value(value_at(self, *level).batch_first()) {}

  Tensor wrap(const Tensor& result) const {
    return makeBatched(result, 0, level);
  }

  VmapLevelPtr level;
  Tensor value; // with the batch in front
};

DimVector behind(int64_t first, IntArrayRef rest) {
  DimVector all{first};
  all.append(rest.begin(), rest.end());
  return all;
}

/// Sizes of the value for samples of these sizes, of which one may be -1.
DimVector sizes_of_value(const Tensor& self, const Unwrapped& unwrapped, IntArrayRef size) {
  return behind(unwrapped.value.size(0), native::infer_size(size, self.numel()));
}

Tensor view(const Tensor& self, IntArrayRef size) {
  const Unwrapped unwrapped(self, "view");
  return unwrapped.wrap(unwrapped.value.view(sizes_of_value(self, unwrapped, size)));
}

Tensor unsafe_view(const Tensor& self, IntArrayRef size) {
  const Unwrapped unwrapped(self, "_unsafe_view");
  return unwrapped.wrap(at::_unsafe_view(unwrapped.value, sizes_of_value(self, unwrapped, size)));
}

// Its strides are those that a view would have.
Tensor reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  const Unwrapped unwrapped(self, "_reshape_alias");
  return unwrapped.wrap(at::_reshape_alias(
      unwrapped.value, behind(unwrapped.value.size(0), size), behind(unwrapped.value.stride(0), stride)));
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const Unwrapped unwrapped(self, "as_strided");
  TORCH_CHECK(
      size.size() == stride.size(), "mismatch in length of strides and shape: as_strided got ", size.size(),
      " sizes and ", stride.size(), " strides");
  // A sample may not reach into the next one: it has the memory from its first element to its last one.
  const auto extent = [](IntArrayRef sizes, IntArrayRef strides) {
    int64_t last = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      last += sizes[d] == 0 ? 0 : (sizes[d] - 1) * strides[d];
    }
    return last;
  };
  const int64_t first = self.storage_offset();
  const int64_t offset = storage_offset.value_or(first);
  const bool is_empty = c10::multiply_integers(size) == 0;
  TORCH_CHECK(
      is_empty ||
          (self.numel() != 0 && offset >= first &&
           offset + extent(size, stride) <= first + extent(self.sizes(), self.strides())),
      "vmap: as_strided(size = ", size, ", stride = ", stride, ", storage_offset = ", offset,
      ") reaches beyond the memory of one sample, which begins at ", first, " and has sizes ", self.sizes(),
      " and strides ", self.strides());
  return unwrapped.wrap(unwrapped.value.as_strided(
      behind(unwrapped.value.size(0), size), behind(unwrapped.value.stride(0), stride), offset));
}

Tensor expand(const Tensor& self, IntArrayRef size, bool implicit) {
  const Unwrapped unwrapped(self, "expand");
  const auto rank = static_cast<int64_t>(size.size());
  TORCH_CHECK(
      rank >= self.dim(), "expand: the number of sizes provided (", rank,
      ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  for (int64_t d = 0; d < rank - self.dim(); ++d) {
    TORCH_CHECK(
        size[static_cast<size_t>(d)] >= 0, "The expanded size of the tensor (", size[static_cast<size_t>(d)],
        ") isn't allowed in a leading, non-existing dimension ", d);
  }
  return unwrapped.wrap(
      pad_sample(unwrapped.value, self.dim(), rank).expand(behind(unwrapped.value.size(0), size), implicit));
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  const Unwrapped unwrapped(self, "permute");
  DimVector order{0};
  for (const int64_t dim : dims) {
    order.push_back(c10::maybe_wrap_dim(dim, self.dim()) + 1);
  }
  return unwrapped.wrap(unwrapped.value.permute(order));
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const Unwrapped unwrapped(self, "transpose");
  const int64_t first = c10::maybe_wrap_dim(dim0, self.dim()), second = c10::maybe_wrap_dim(dim1, self.dim());
  return unwrapped.wrap(self.dim() == 0 ? unwrapped.value.alias() : unwrapped.value.transpose(first + 1, second + 1));
}

Tensor t(const Tensor& self) {
  const Unwrapped unwrapped(self, "t");
  TORCH_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return unwrapped.wrap(self.dim() < 2 ? unwrapped.value.alias() : unwrapped.value.transpose(1, 2));
}

Tensor squeezed(const Tensor& self, const Unwrapped& unwrapped, IntArrayRef dims) {
  DimVector without;
  for (const int64_t dim : dims) {
    const int64_t d = c10::maybe_wrap_dim(dim, self.dim());
    if (self.dim() != 0 && self.size(d) == 1) {
      without.push_back(d + 1);
    }
  }
  return unwrapped.wrap(unwrapped.value.squeeze(without));
}

Tensor squeeze(const Tensor& self) {
  DimVector all;
  for (int64_t d = 0; d < self.dim(); ++d) {
    all.push_back(d);
  }
  return squeezed(self, Unwrapped(self, "squeeze"), all);
}
Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  return squeezed(self, Unwrapped(self, "squeeze"), dim);
}
Tensor squeeze_dims(const Tensor& self, IntArrayRef dims) {
  return squeezed(self, Unwrapped(self, "squeeze"), dims);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const Unwrapped unwrapped(self, "unsqueeze");
  return unwrapped.wrap(unwrapped.value.unsqueeze(c10::maybe_wrap_dim(dim, self.dim() + 1) + 1));
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const Unwrapped unwrapped(self, "repeat");
  const auto rank = static_cast<int64_t>(repeats.size());
  TORCH_CHECK(
      rank >= self.dim(), "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  return unwrapped.wrap(pad_sample(unwrapped.value, self.dim(), rank).repeat(behind(1, repeats)));
}

// ---- copies of views ------------------------------------------------------------------------------------------------

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const Unwrapped unwrapped(self, "diag_embed");
  const int64_t rank = self.dim() + 1; // of the result
  return unwrapped.wrap(
      unwrapped.value.diag_embed(offset, c10::maybe_wrap_dim(dim1, rank) + 1, c10::maybe_wrap_dim(dim2, rank) + 1));
}

Tensor as_strided_scatter(
    const Tensor& self,
    const Tensor& src,
    IntArrayRef size,
    IntArrayRef stride,
    std::optional<int64_t> storage_offset) {
  const VmapLevelPtr level = level_of({self, src}, "as_strided_scatter");
  const Tensor value = value_at(self, *level).with_batch(level->batch_size).clone(MemoryFormat::Contiguous);
  const Tensor result = makeBatched(value, 0, level);
  result.as_strided(size, stride, storage_offset).copy_(src);
  return result;
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(
      self.dim() > 2 && groups > 0 && self.size(1) % groups == 0,
      "channel_shuffle: the number of channels must be divisible by groups, which is ", groups,
      ", but the input has sizes ", self.sizes());
  return self.unflatten(1, {groups, self.size(1) / groups}).transpose(1, 2).flatten(1, 2);
}

// ---- new tensors ----------------------------------------------------------------------------------------------------

Tensor new_empty_strided(
    const Tensor& self,
    IntArrayRef size,
    IntArrayRef stride,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  const Unwrapped unwrapped(self, "new_empty_strided");
  int64_t extent = 1; // of the memory of a sample
  for (size_t d = 0; d < std::min(size.size(), stride.size()); ++d) {
    extent += std::max<int64_t>(size[d] - 1, 0) * stride[d];
  }
  return unwrapped.wrap(unwrapped.value.new_empty_strided(
      behind(unwrapped.value.size(0), size), behind(extent, stride), dtype, layout, device, pin_memory));
}

// ---- in place: the tensor stands for another value -----------------------------------------------------------------

/// What `view` makes of the tensor becomes its value. The memory stays, so whoever else has the value sees no change.
template <class View, class... Args>
const Tensor& become(const Tensor& self, const View& view, const Args&... args) {
  const Tensor changed = view(self, args...);
  const BatchedTensorImpl& made = *unsafeGetBatchedImpl(changed);
  unsafeGetBatchedImpl(self)->set_value(made.value(), made.bdim());
  return self;
}

Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  become(self, transpose, dim0, dim1);
  return self;
}
Tensor& t_(Tensor& self) {
  become(self, t);
  return self;
}
Tensor& squeeze_(Tensor& self) {
  become(self, squeeze);
  return self;
}
Tensor& squeeze_dim_(Tensor& self, int64_t dim) {
  become(self, squeeze_dim, dim);
  return self;
}
Tensor& squeeze_dims_(Tensor& self, IntArrayRef dims) {
  become(self, squeeze_dims, dims);
  return self;
}
Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  become(self, unsqueeze, dim);
  return self;
}

/// Of the first tensor nothing is left but what it is like.
Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  return src.to(self.options(), non_blocking, /*copy=*/true).expand(self.sizes()).contiguous();
}

constexpr c10::impl::BuiltinKernelRow kViewsRules[] = {
    rule_for<&copy>("aten::copy"),
    rule_for<&view>("aten::view"),
    rule_for<&unsafe_view>("aten::_unsafe_view"),
    rule_for<&reshape_alias>("aten::_reshape_alias"),
    rule_for<&as_strided>("aten::as_strided"),
    rule_for<&expand>("aten::expand"),
    rule_for<&permute>("aten::permute"),
    rule_for<&transpose>("aten::transpose", "int"),
    rule_for<&t>("aten::t"),
    rule_for<&squeeze>("aten::squeeze"),
    rule_for<&squeeze_dim>("aten::squeeze", "dim"),
    rule_for<&squeeze_dims>("aten::squeeze", "dims"),
    rule_for<&unsqueeze>("aten::unsqueeze"),
    rule_for<&repeat>("aten::repeat"),
    rule_for<&new_empty_strided>("aten::new_empty_strided"),
    rule_for<&diag_embed>("aten::diag_embed"),
    rule_for<&as_strided_scatter>("aten::as_strided_scatter"),
    rule_for<&channel_shuffle>("aten::native_channel_shuffle"),
    rule_for<&transpose_>("aten::transpose_"),
    rule_for<&t_>("aten::t_"),
    rule_for<&squeeze_>("aten::squeeze_"),
    rule_for<&squeeze_dim_>("aten::squeeze_", "dim"),
    rule_for<&squeeze_dims_>("aten::squeeze_", "dims"),
    rule_for<&unsqueeze_>("aten::unsqueeze_"),
};
const c10::impl::BuiltinKernels kViewsRulesRegistered(kViewsRules);

} // namespace

} // namespace at::functorch
