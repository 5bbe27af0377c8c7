// build_pointwise: the way from an operator's arguments to its loop. See Note [Fast pointwise calls].
#include <aten/TensorIterator.h>

#include <aten/TensorIteratorDetail.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/convert.h>

#include <utility>

namespace at {

using c10::Device;
using c10::ScalarType;

namespace {

// bool < integers < floating < complex
int kind_of(ScalarType type) {
  return c10::isComplexType(type) ? 3 : c10::isFloatingType(type) ? 2 : type == ScalarType::Bool ? 0 : 1;
}

// A number in a dtype of no lower kind, as a tensor of that number would be cast.
void convert_number(const c10::Scalar& number, ScalarType dtype, void* value) {
  if (number.isFloatingPoint() && dtype == ScalarType::Float) {
    *static_cast<float*>(value) = static_cast<float>(number.toDouble());
    return;
  }
  alignas(16) char original[16];
  const ScalarType original_dtype = detail::store_scalar(number, original);
  native::convert_elements(dtype, value, 0, original_dtype, original, 0, 1);
}

// As data() and mutable_data(), which are calls, for tensors with storage; some address for those without elements.
const void* first_element(const c10::TensorImpl& impl) {
  return static_cast<const char*>(impl.unsafe_storage().data()) + impl.storage_offset() * impl.dtype().itemsize();
}
void* mutable_first_element(const c10::TensorImpl& impl) {
  return static_cast<char*>(impl.unsafe_storage().mutable_data()) + impl.storage_offset() * impl.dtype().itemsize();
}

} // namespace

// The common case in one pass: one tensor leads, the others are of its dtype and shape and contiguous as it, or are
// single values that do not change the dtype. Anything else is left to the general path, which nothing here disturbs.
bool TensorIteratorBase::try_pointwise_fast(
    const TensorBase* out,
    const PointwiseInput* inputs,
    int count,
    PointwiseRule rule) {
  if (rule.keep_mask != 0 || count >= FastOperands::kMax) {
    return false;
  }
  const c10::TensorImpl* lead = nullptr;
  for (int i = 0; i < count; ++i) {
    if (inputs[i].tensor != nullptr) {
      const c10::TensorImpl* impl = inputs[i].tensor->unsafeGetTensorImpl();
      if (lead == nullptr || (lead->dim() == 0 && impl->dim() > 0)) {
        lead = impl;
      }
    }
  }
  if (lead == nullptr || !lead->is_contiguous() || lead->is_wrapped_number() || lead->layout() != c10::kStrided ||
      !lead->has_storage()) {
    return false;
  }
  const caffe2::TypeMeta type = lead->dtype();
  const ScalarType dtype = c10::typeMetaToScalarType(type);
  const Device device = *lead->device_opt();
  const IntArrayRef sizes = lead->sizes();
  const int kind = kind_of(dtype);
  ScalarType result = dtype;
  switch (rule.result) {
    case PointwiseRule::Result::Common:
      break;
    case PointwiseRule::Result::Float:
      if (kind < 2) {
        return false;
      }
      break;
    case PointwiseRule::Result::Bool:
      result = ScalarType::Bool;
      break;
    case PointwiseRule::Result::Real:
      if (kind == 3) {
        return false;
      }
      break;
  }
  std::uint32_t repeated = 0, numbers = 0;
  for (int i = 0; i < count; ++i) {
    if (inputs[i].tensor == nullptr) {
      if (kind_of(inputs[i].number->type()) > kind) {
        return false;
      }
      numbers |= 2u << i;
      continue;
    }
    const c10::TensorImpl* impl = inputs[i].tensor->unsafeGetTensorImpl();
    if (impl == lead) {
      continue;
    }
    const bool same_kind = impl->key_set() == lead->key_set() || impl->layout() == c10::kStrided;
    if (impl->dtype() != type || impl->device_opt() != device || !impl->is_contiguous() || !same_kind ||
        !impl->has_storage()) {
      return false;
    }
    if (!impl->sizes().equals(sizes)) {
      if (impl->dim() != 0 || !device.is_cpu()) {
        return false;
      }
      repeated |= 2u << i;
    }
  }
  const bool allocate = out == nullptr || !out->defined();
  if (!allocate) {
    const c10::TensorImpl* target = out->unsafeGetTensorImpl();
    if (target->dtype() != c10::scalarTypeToTypeMeta(result) || target->device() != device ||
        !target->is_contiguous() || !target->sizes().equals(sizes) || target->layout() != c10::kStrided ||
        !target->has_storage()) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      const TensorBase* tensor = inputs[i].tensor;
      if (tensor != nullptr && !tensor->is_same(*out) &&
          tensor->unsafeGetTensorImpl()->unsafe_storage().is_alias_of(target->unsafe_storage())) {
        return false;
      }
    }
  }

  FastOperands& fast = fast_;
  if (allocate) {
    fast.output = empty_contiguous(sizes, result, device);
    fast.source[0].tensor = nullptr;
  } else {
    fast.source[0].tensor = out;
  }
  common_dtype_ = dtype;
  common_device_ = device;
  is_meta_ = device.is_meta();
  num_outputs_ = 1;
  all_ops_same_shape_ = true;
  has_coalesced_dimensions_ = true;
  shape_.push_back(lead->numel());
  fast.repeated = repeated | numbers;
  fast.numbers = numbers;
  fast.input_size = static_cast<std::uint16_t>(type.itemsize());
  fast.output_size = result == dtype ? fast.input_size : 1;
  if (!is_meta_) {
    fast.data[0] = mutable_first_element(*(allocate ? fast.output : *out).unsafeGetTensorImpl());
  }
  for (int i = 0; i < count; ++i) {
    if (inputs[i].tensor != nullptr) {
      fast.source[i + 1].tensor = inputs[i].tensor;
      if (!is_meta_) {
        fast.data[i + 1] = const_cast<void*>(first_element(*inputs[i].tensor->unsafeGetTensorImpl()));
      }
    } else {
      fast.source[i + 1].number = inputs[i].number;
      fast.data[i + 1] = fast.values[i];
      convert_number(*inputs[i].number, dtype, fast.values[i]);
    }
  }
  fast.count = count + 1;
  return true;
}

void TensorIteratorBase::materialize() const {
  TensorIteratorBase& self = const_cast<TensorIteratorBase&>(*this);
  const int count = std::exchange(self.fast_.count, 0);
  self.operands_.resize(count);
  for (int i = 0; i < count; ++i) {
    OperandInfo& op = self.operands_[i];
    op.is_output = i == 0;
    op.is_const = i != 0;
    op.device = common_device_;
    op.stride_bytes.assign(1, (fast_.repeated >> i) & 1u ? 0 : i == 0 ? fast_.output_size : fast_.input_size);
    if ((fast_.numbers >> i) & 1u) {
      op.is_number_ = true;
      op.device = Device(c10::DeviceType::CPU);
      op.original_value_dtype_ = detail::store_scalar(*fast_.source[i].number, op.original_value_);
      self.hold_inline(op, common_dtype_);
      op.data = op.value_;
      continue;
    }
    if (i == 0 && fast_.source[0].tensor == nullptr) {
      op.own(std::move(self.fast_.output));
    } else {
      op.borrowed_ = fast_.source[i].tensor;
      self.operands_[0].is_read_write |= i != 0 && op.borrowed_->is_same(self.operands_[0].tensor_base());
    }
    op.target_dtype = op.current_dtype = op.tensor_base().scalar_type();
    op.data = is_meta_ ? nullptr : fast_.data[i];
  }
}

void TensorIteratorBase::build_pointwise(
    const TensorBase* out,
    std::initializer_list<PointwiseInput> inputs,
    PointwiseRule rule,
    bool resize_out) {
  if (C10_LIKELY(try_pointwise_fast(out, inputs.begin(), static_cast<int>(inputs.size()), rule))) {
    return;
  }
  static const std::optional<DimVector> no_shape;
  static const std::optional<ScalarType> no_dtype;
  static const std::optional<Device> no_device;
  operands_.resize(inputs.size() + 1);
  num_outputs_ = 1;
  operands_[0].borrowed_ = out;
  int index = 0;
  for (const PointwiseInput& input : inputs) {
    OperandInfo& op = operands_[index + 1];
    op.is_const = true;
    op.keeps_dtype_ = ((rule.keep_mask >> index) & 1u) != 0;
    if (input.tensor != nullptr) {
      op.borrowed_ = input.tensor;
    } else {
      op.is_number_ = true;
      op.original_value_dtype_ = detail::store_scalar(*input.number, op.original_value_);
    }
    ++index;
  }
  result_rule_ = rule.result;
  build_operands(
      TensorIteratorConfig::kCheckMemOverlap | TensorIteratorConfig::kCheckSameDevice |
          (resize_out ? TensorIteratorConfig::kResizeOutputs : 0u) | TensorIteratorConfig::kPromoteInputs |
          TensorIteratorConfig::kSafeCasting | TensorIteratorConfig::kCastOutputs | TensorIteratorConfig::kCpuScalars |
          (rule.result == PointwiseRule::Result::Float ? TensorIteratorConfig::kIntegersToFloat : 0u),
      Statics{no_shape, no_dtype, no_device});
}

Tensor TensorIteratorBase::take_output(int64_t arg) {
  if (C10_LIKELY(fast_.count != 0)) {
    return fast_.source[0].tensor != nullptr ? Tensor(*fast_.source[0].tensor) : Tensor(std::move(fast_.output));
  }
  OperandInfo& op = operands_[arg];
  if (op.borrowed_ != nullptr) {
    return Tensor(*op.borrowed_);
  }
  return Tensor(std::move(op.owned_));
}

} // namespace at
