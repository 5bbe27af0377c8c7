// The geometry half of TensorIterator: strides, order of dimensions, output layout, merging of dimensions.
#include <aten/iterator/TensorIterator.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/iterator/TensorIteratorDetail.h>
#include <aten/native/support/OutArgument.h>

#include <algorithm>
#include <utility>

namespace at {

using c10::MemoryFormat;

// All operands of one shape and one dense layout: a single run, and outputs of the same layout. True when that held.
bool TensorIteratorBase::fast_set_up() {
  if (is_reduction_ || !all_ops_same_shape_) {
    return false;
  }
  bool contiguous = true, channels_last = !enforce_linear_iteration_, dense = !enforce_linear_iteration_;
  const TensorBase* last = nullptr;
  for (int i = ntensors() - 1; i >= 0; --i) {
    const OperandInfo& op = operands_[i];
    const TensorBase& tensor = op.tensor_base();
    if (!tensor.defined() || op.will_resize) {
      continue;
    }
    contiguous = contiguous && tensor.is_contiguous();
    channels_last = channels_last && tensor.is_contiguous(MemoryFormat::ChannelsLast);
    dense =
        dense && tensor.is_non_overlapping_and_dense() && (last == nullptr || last->strides().equals(tensor.strides()));
    last = last == nullptr ? &tensor : last;
  }
  if (!contiguous && !channels_last && !dense) {
    return false;
  }
  const MemoryFormat format = !contiguous && channels_last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
  const IntArrayRef strides = contiguous || channels_last ? IntArrayRef() : last->strides();
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = operands_[i];
    if (!op.tensor_base().defined() || op.will_resize) {
      set_output(op, shape_, strides, format);
    }
  }
  if (ndim() > 1) {
    has_coalesced_dimensions_ = true;
  }
  if (ndim() >= 1) {
    const int64_t count = numel();
    shape_.assign(1, count);
  }
  for (OperandInfo& op : operands_) {
    op.stride_bytes.assign(ndim(), op.is_scalar_ ? 0 : static_cast<int64_t>(c10::elementSize(op.current_dtype)));
  }
  return true;
}

void TensorIteratorBase::compute_strides(const Statics& statics) {
  for (OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor_base();
    op.stride_bytes.clear();
    if (op.is_scalar_) {
      op.stride_bytes.assign(ndim(), 0);
      continue;
    }
    if (!tensor.defined() || op.will_resize) {
      continue;
    }
    const IntArrayRef sizes = statics.shape.has_value() ? IntArrayRef(shape_) : tensor.sizes();
    const IntArrayRef strides = tensor.strides();
    const auto element_size = static_cast<int64_t>(tensor.itemsize());
    const auto offset = ndim() - static_cast<int64_t>(sizes.size());
    op.stride_bytes.assign(ndim(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      // A size of 1 is repeated along a larger dimension.
      const bool repeated = sizes[i] == 1 && shape_[offset + i] != 1;
      // The stride of a dimension of size 1 may be anything: it wraps.
      const auto bytes = static_cast<int64_t>(static_cast<uint64_t>(strides[i]) * static_cast<uint64_t>(element_size));
      op.stride_bytes[offset + i] = repeated ? 0 : bytes;
    }
    if (op.inline_value_) {
      op.stride_bytes.assign(ndim(), 0);
    }
  }
}

// Fastest dimension first. Outputs are asked before inputs; ambiguous pairs keep their order, so that the layout of
// allocated outputs follows the inputs as in PyTorch.
void TensorIteratorBase::reorder_dimensions() {
  const int n = ndim();
  perm_.resize(n);
  for (int i = 0; i < n; ++i) {
    perm_[i] = n - 1 - i;
  }
  if (enforce_linear_iteration_ || n <= 1) {
    permute_dimensions(perm_);
    return;
  }
  // >0: dim0 must come after dim1; <0: it stands right; 0: operands do not tell.
  const auto compare = [this](int64_t dim0, int64_t dim1) {
    for (const OperandInfo& op : operands_) {
      if (op.stride_bytes.empty() || op.will_resize) {
        continue;
      }
      const int64_t stride0 = op.stride_bytes[dim0];
      const int64_t stride1 = op.stride_bytes[dim1];
      if (is_reduction_ && op.is_output && (stride0 == 0) != (stride1 == 0)) {
        return stride1 == 0 ? 1 : -1; // reduced dimensions come first
      }
      if (stride0 == 0 || stride1 == 0) {
        continue;
      }
      if (stride0 != stride1) {
        return stride0 < stride1 ? -1 : 1;
      }
      if (shape_[dim0] > shape_[dim1]) {
        return 1;
      }
    }
    return 0;
  };
  // Only dimensions of size 1, or those of a tensor without elements, can be so many that sorting takes long, and their
  // order means nothing.
  constexpr int kManyDims = 64;
  int sorted = n;
  if (C10_UNLIKELY(n > kManyDims)) {
    const auto matters = [this](int64_t dim) { return shape_[dim] != 1; };
    sorted = static_cast<int>(std::stable_partition(perm_.begin(), perm_.end(), matters) - perm_.begin());
    if (sorted > kManyDims) {
      sorted = 0;
    }
  }
  // Insertion sort: the relation is not transitive where strides are 0.
  for (int i = 1; i < sorted; ++i) {
    int dim1 = i;
    for (int dim0 = i - 1; dim0 >= 0; --dim0) {
      const int order = compare(perm_[dim0], perm_[dim1]);
      if (order > 0) {
        std::swap(perm_[dim0], perm_[dim1]);
        dim1 = dim0;
      } else if (order < 0) {
        break;
      }
    }
  }
  permute_dimensions(perm_);
}

void TensorIteratorBase::permute_dimensions(IntArrayRef perm) {
  const auto reorder = [perm](auto& data) {
    auto old = data;
    for (std::size_t i = 0; i < perm.size(); ++i) {
      data[i] = old[perm[i]];
    }
  };
  reorder(shape_);
  for (OperandInfo& op : operands_) {
    if (!op.stride_bytes.empty()) {
      reorder(op.stride_bytes);
    }
  }
}

void TensorIteratorBase::allocate_or_resize_outputs() {
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = operands_[i];
    if (op.tensor_base().defined() && !op.will_resize) {
      continue;
    }
    TORCH_INTERNAL_ASSERT(op.is_type_defined(), "TensorIterator: no dtype for output ", i);
    const auto element_size = static_cast<int64_t>(c10::elementSize(op.target_dtype));
    op.stride_bytes = compatible_stride(element_size);
    bool reversed = true; // the plain contiguous order
    for (int d = 0; d < ndim(); ++d) {
      reversed = reversed && perm_[d] == ndim() - d - 1;
    }
    const DimVector sizes = invert_perm(shape_);
    if (reversed) {
      set_output(op, sizes, {}, MemoryFormat::Contiguous);
    } else {
      DimVector strides = invert_perm(op.stride_bytes);
      for (int64_t& stride : strides) {
        stride /= element_size;
      }
      set_output(op, sizes, strides, MemoryFormat::Contiguous);
    }
    op.current_dtype = op.target_dtype;
  }
}

void TensorIteratorBase::set_output(OperandInfo& op, IntArrayRef sizes, IntArrayRef strides, MemoryFormat format) {
  if (op.will_resize) {
    const TensorBase& tensor = op.tensor_base();
    native::resize_output(op.tensor(), sizes);
    if (!strides.empty()) {
      tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
    } else if (format != MemoryFormat::Contiguous) {
      tensor.unsafeGetTensorImpl()->empty_tensor_restride(format);
    }
    return;
  }
  if (strides.empty() && format == MemoryFormat::Contiguous) {
    op.own(empty_contiguous(sizes, op.target_dtype, *op.device));
  } else {
    TensorSpec spec{DimVector(sizes.begin(), sizes.end()), op.target_dtype, *op.device};
    if (strides.empty()) {
      spec.memory_format = format;
    } else {
      spec.strides = DimVector(strides.begin(), strides.end());
    }
    op.own(empty_spec(spec));
  }
  op.current_dtype = op.target_dtype;
}

TensorIteratorBase::StrideVector TensorIteratorBase::compatible_stride(int64_t element_size) const {
  StrideVector strides;
  int64_t next = element_size;
  for (const int64_t size : shape_) {
    strides.push_back(next);
    next *= size;
  }
  return strides;
}

DimVector TensorIteratorBase::invert_perm(IntArrayRef input) const {
  TORCH_INTERNAL_ASSERT(!has_coalesced_dimensions_ && input.size() == perm_.size());
  DimVector result(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    result[perm_[i]] = input[i];
  }
  return result;
}

DimVector TensorIteratorBase::apply_perm_and_mul(IntArrayRef input, int mul) const {
  TORCH_INTERNAL_ASSERT(!has_coalesced_dimensions_ && input.size() == perm_.size());
  DimVector result(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    result[i] = input[perm_[i]] * mul;
  }
  return result;
}

void TensorIteratorBase::coalesce_dimensions() {
  if (ndim() <= 1) {
    return;
  }
  const auto can_join = [this](int dim0, int dim1) {
    if (shape_[dim0] == 1 || shape_[dim1] == 1) {
      return true;
    }
    for (const OperandInfo& op : operands_) {
      if (shape_[dim0] * op.stride_bytes[dim0] != op.stride_bytes[dim1]) {
        return false;
      }
    }
    return true;
  };
  const auto take_strides = [this](int to, int from) {
    for (OperandInfo& op : operands_) {
      op.stride_bytes[to] = op.stride_bytes[from];
    }
  };
  int last = 0;
  for (int dim = 1; dim < ndim(); ++dim) {
    if (can_join(last, dim)) {
      if (shape_[last] == 1) {
        take_strides(last, dim);
      }
      shape_[last] *= shape_[dim];
    } else {
      ++last;
      if (last != dim) {
        take_strides(last, dim);
        shape_[last] = shape_[dim];
      }
    }
  }
  shape_.resize(last + 1);
  for (OperandInfo& op : operands_) {
    op.stride_bytes.resize(last + 1);
  }
  has_coalesced_dimensions_ = true;
}

} // namespace at
