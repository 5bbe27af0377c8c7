// The parts of TensorImpl that change sizes, strides and storage.

#include <c10/core/SymbolicShapeMeta.h>
#include <c10/core/TensorImpl.h>

#include <c10/util/DimVector.h>

#include <algorithm>

namespace c10 {

namespace {

// Dimensions of a memory format, from the fastest to the slowest.
constexpr int kChannelsLastOrder[] = {1, 3, 2, 0};
constexpr int kChannelsLast3dOrder[] = {1, 4, 3, 2, 0};

void fill_strides(IntArrayRef sizes, ArrayRef<int> order, DimVector& strides) {
  int64_t next = 1;
  bool overflows = false;
  for (const int d : order) {
    TORCH_CHECK(!overflows, "Stride calculation overflowed with sizes=", sizes);
    strides[static_cast<size_t>(d)] = next;
    // The product that nobody uses, behind the slowest dimension, may overflow.
    overflows = __builtin_mul_overflow(next, std::max<int64_t>(sizes[static_cast<size_t>(d)], 1), &next);
  }
}

} // namespace

void TensorImpl::check_plain(const char* what) const {
  TORCH_CHECK(!traits_.has_symbolic_sizes_strides, what, "() called on tensor with symbolic shape");
}

void TensorImpl::set_sizes_contiguous(IntArrayRef new_size) {
  // Tensors with elements go the short way: the running product gives the strides, and at its end numel.
  const size_t dim = new_size.size();
  const int64_t* from = new_size.data();
  if (dim == 1 && from[0] > 0 && !matches_policy(SizesStridesPolicy::CustomStrides)) {
    sizes_and_strides_.resize_uninitialized(1);
    sizes_and_strides_.size_at_unchecked(0) = from[0];
    sizes_and_strides_.stride_at_unchecked(0) = 1;
    numel_ = from[0];
    flags_ = {true, false, false, false, false, true};
    return;
  }
  int64_t product = 1;
  bool unusual = matches_policy(SizesStridesPolicy::CustomStrides);
  for (size_t d = dim; d-- > 0;) {
    unusual |= from[d] <= 0;
    unusual |= __builtin_mul_overflow(product, from[d], &product);
  }
  if (C10_UNLIKELY(unusual)) {
    set_sizes_contiguous_unusual(new_size);
    return;
  }
  sizes_and_strides_.resize_uninitialized(dim);
  int64_t* sizes = sizes_and_strides_.sizes_data();
  int64_t* strides = sizes_and_strides_.strides_data();
  int64_t next = 1;
  for (size_t d = dim; d-- > 0;) {
    const int64_t size = from[d];
    sizes[d] = size;
    strides[d] = next;
    next *= size;
  }
  numel_ = product;
  set_contiguous_flags();
}

void TensorImpl::set_sizes_contiguous_unusual(IntArrayRef new_size) {
  TORCH_CHECK(
      !matches_policy(SizesStridesPolicy::CustomStrides), "tried to directly modify sizes for customized tensor");
  const int64_t numel = checked_numel(new_size);
  DimVector strides(new_size.size());
  int64_t next = 1;
  for (size_t d = new_size.size(); d-- > 0;) {
    strides[d] = next;
    // The product with the first size is no stride.
    TORCH_CHECK(
        d == 0 || !__builtin_mul_overflow(next, std::max<int64_t>(new_size[d], 1), &next),
        "Stride calculation overflowed with sizes=", new_size);
  }
  sizes_and_strides_.set_sizes(new_size);
  sizes_and_strides_.set_strides(strides);
  numel_ = numel;
  set_contiguous_flags();
}

void TensorImpl::set_contiguous_flags() {
  const size_t dim = sizes_and_strides_.size();
  if (C10_LIKELY(dim != 4 && dim != 5)) {
    flags_ = {true, false, false, false, false, true};
  } else {
    refresh_contiguous();
  }
}

void TensorImpl::set_sizes_and_strides(
    IntArrayRef new_size, IntArrayRef new_stride, std::optional<int64_t> storage_offset) {
  // What views mostly ask for: few dimensions, elements, strides that are given. One pass says all about it. It goes
  // upwards and reads before it writes, since the arguments may be the tensor's own.
  const size_t few = new_size.size();
  if (C10_LIKELY(
          few < 4 && few == new_stride.size() && sizes_and_strides_.size() <= impl::SizesAndStrides::kMaxInline &&
          !matches_policy(SizesStridesPolicy::CustomStrides))) {
    int64_t product = 1;
    bool usual = true;
    bool contiguous = true;
    for (size_t d = few; d-- > 0;) {
      contiguous &= new_size[d] == 1 || new_stride[d] == product;
      usual &= new_size[d] > 0 && new_stride[d] >= 0 && !__builtin_mul_overflow(product, new_size[d], &product);
    }
    if (C10_LIKELY(usual)) {
      sizes_and_strides_.resize_uninitialized(few);
      for (size_t d = 0; d < few; ++d) {
        const int64_t size = new_size[d];
        const int64_t stride = new_stride[d];
        sizes_and_strides_.size_at_unchecked(d) = size;
        sizes_and_strides_.stride_at_unchecked(d) = stride;
      }
      numel_ = product;
      const bool dense = contiguous ||
          _compute_non_overlapping_and_dense(
                             sizes_and_strides_.sizes_arrayref(), sizes_and_strides_.strides_arrayref());
      flags_ = {contiguous, false, false, false, false, dense};
      storage_offset_ = storage_offset.value_or(storage_offset_);
      return;
    }
  }
  check_plain("set_sizes_and_strides");
  TORCH_CHECK(
      new_size.size() == new_stride.size(), "dimensionality of sizes (", new_size.size(),
      ") must match dimensionality of strides (", new_stride.size(), ")");
  const size_t dim = new_size.size();
  const int64_t numel = checked_numel(new_size);
  DimVector strides(new_stride.begin(), new_stride.end());
  bool overflows = false;
  for (size_t d = dim; d-- > 0;) {
    if (C10_UNLIKELY(strides[d] < 0)) {
      if (d + 1 == dim) {
        strides[d] = 1;
      } else {
        overflows |= __builtin_mul_overflow(strides[d + 1], std::max<int64_t>(new_size[d + 1], 1), &strides[d]);
      }
    }
  }
  TORCH_CHECK(!overflows, "Stride calculation overflowed with sizes=", new_size, " and strides=", new_stride);
  sizes_and_strides_.set_sizes(new_size);
  sizes_and_strides_.set_strides(strides);
  numel_ = numel;
  refresh_contiguous();
  if (storage_offset) {
    storage_offset_ = *storage_offset;
  }
}

void TensorImpl::make_plain() {
  traits_.has_symbolic_sizes_strides = false;
  if (extra_meta_) {
    extra_meta_->symbolic_shape_meta_.reset();
  }
  refresh_policy();
}

void TensorImpl::set_sizes_and_strides(
    SymIntArrayRef sizes, SymIntArrayRef strides, std::optional<c10::SymInt> storage_offset) {
  const auto plain_sizes = asIntArrayRefSlowOpt(sizes);
  const auto plain_strides = asIntArrayRefSlowOpt(strides);
  if (plain_sizes && plain_strides && (!storage_offset || !storage_offset->is_heap_allocated())) {
    make_plain();
    set_sizes_and_strides(
        *plain_sizes, *plain_strides,
        storage_offset ? std::optional<int64_t>(storage_offset->as_int_unchecked()) : std::nullopt);
    return;
  }
  TORCH_CHECK(
      sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
      ") must match dimensionality of strides (", strides.size(), ")");
  auto shape = std::make_unique<SymbolicShapeMeta>();
  shape->sizes_ = SymDimVector(sizes.begin(), sizes.end());
  shape->strides_ = SymDimVector(strides.begin(), strides.end());
  shape->storage_offset_ = storage_offset ? std::move(*storage_offset) : sym_storage_offset();
  get_extra_meta().symbolic_shape_meta_ = std::move(shape);
  traits_.has_symbolic_sizes_strides = true;
  refresh_policy();
}

void TensorImpl::generic_set_sizes_contiguous(SymIntArrayRef sizes) {
  if (const auto plain = asIntArrayRefSlowOpt(sizes)) {
    make_plain();
    set_sizes_contiguous(*plain);
    return;
  }
  SymDimVector strides(sizes.size(), SymInt(1));
  for (size_t d = sizes.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * sizes[d].max(SymInt(1));
  }
  set_sizes_and_strides(sizes, SymIntArrayRef(strides));
}

void TensorImpl::set_size(int64_t dim, int64_t new_size) {
  TORCH_CHECK(
      !matches_policy(SizesStridesPolicy::CustomSizes),
      "set_size() called on tensor with dynamic shapes or customized size behavior");
  DimVector sizes(sizes_and_strides_.sizes_begin(), sizes_and_strides_.sizes_end());
  sizes[static_cast<size_t>(maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false))] = new_size;
  numel_ = checked_numel(sizes);
  sizes_and_strides_.set_sizes(sizes);
  refresh_contiguous();
}

void TensorImpl::set_stride(int64_t dim, int64_t new_stride) {
  check_plain("set_stride");
  const int64_t d = maybe_wrap_dim(dim, this->dim(), /*wrap_scalar=*/false);
  sizes_and_strides_.stride_at_unchecked(static_cast<size_t>(d)) = new_stride;
  refresh_contiguous();
}

void TensorImpl::set_storage_offset(int64_t storage_offset) {
  check_plain("set_storage_offset");
  storage_offset_ = storage_offset;
}

void TensorImpl::empty_tensor_restride(MemoryFormat memory_format) {
  check_plain("empty_tensor_restride");
  const IntArrayRef sizes = sizes_and_strides_.sizes_arrayref();
  DimVector strides(sizes.size());
  switch (memory_format) {
    case MemoryFormat::Contiguous:
      set_sizes_contiguous(DimVector(sizes.begin(), sizes.end()));
      return;
    case MemoryFormat::ChannelsLast:
      TORCH_CHECK(dim() == 4, "required rank 4 tensor to use channels_last format");
      fill_strides(sizes, kChannelsLastOrder, strides);
      break;
    case MemoryFormat::ChannelsLast3d:
      TORCH_CHECK(dim() == 5, "required rank 5 tensor to use channels_last_3d format");
      fill_strides(sizes, kChannelsLast3dOrder, strides);
      break;
    default:
      TORCH_CHECK(false, "unsupported memory format ", memory_format);
  }
  sizes_and_strides_.set_strides(strides);
  refresh_contiguous();
}

void TensorImpl::set_storage_keep_dtype(at::Storage storage) {
  storage_ = std::move(storage);
  traits_.may_be_recycled = false;
  device_opt_ = storage_.device();
}

void TensorImpl::set_storage_and_dtype(at::Storage storage, const caffe2::TypeMeta data_type) {
  set_storage_keep_dtype(std::move(storage));
  data_type_ = data_type;
}

void TensorImpl::release_storage_and_set_meta_custom_data_ptr_error_msg_(std::optional<std::string> message) {
  storage_ = {};
  traits_.may_be_recycled = false;
  set_storage_access_should_throw();
  get_extra_meta().custom_data_ptr_error_msg_ = message;
  get_extra_meta().custom_storage_error_msg_ = std::move(message);
}

} // namespace c10
