#include <aten/TensorIterator.h>

#include <aten/MemoryOverlap.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/native/OutArgument.h>
#include <aten/native/TypeProperties.h>
#include <aten/native/convert.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace at {

using c10::Device;
using c10::MemoryFormat;
using c10::ScalarType;

struct TensorIteratorBase::Statics {
  const std::optional<DimVector>& shape;
  const std::optional<ScalarType>& dtype;
  const std::optional<Device>& device;
};

// ---- operands ----------------------------------------------------------------------------------------------------

void OperandInfo::copy_plain(const OperandInfo& other) {
  data = other.data;
  device = other.device;
  target_dtype = other.target_dtype;
  current_dtype = other.current_dtype;
  is_output = other.is_output;
  will_resize = other.will_resize;
  is_read_write = other.is_read_write;
  is_const = other.is_const;
  is_number_ = other.is_number_;
  keeps_dtype_ = other.keeps_dtype_;
  inline_value_ = other.inline_value_;
  borrowed_ = other.borrowed_;
  original_value_dtype_ = other.original_value_dtype_;
  if (is_number_ || inline_value_) {
    std::memcpy(value_, other.value_, sizeof(value_));
    std::memcpy(original_value_, other.original_value_, sizeof(original_value_));
  }
  if (inline_value_) {
    data = value_;
  }
}

OperandInfo::OperandInfo(const OperandInfo& other)
    : stride_bytes(other.stride_bytes), owned_(other.owned_), original_(other.original_) {
  copy_plain(other);
}

OperandInfo::OperandInfo(OperandInfo&& other) noexcept
    : stride_bytes(std::move(other.stride_bytes)), owned_(std::move(other.owned_)), original_(std::move(other.original_)) {
  copy_plain(other);
}

OperandInfo& OperandInfo::operator=(const OperandInfo& other) {
  stride_bytes = other.stride_bytes;
  owned_ = other.owned_;
  original_ = other.original_;
  copy_plain(other);
  return *this;
}

OperandInfo& OperandInfo::operator=(OperandInfo&& other) noexcept {
  stride_bytes = std::move(other.stride_bytes);
  owned_ = std::move(other.owned_);
  original_ = std::move(other.original_);
  copy_plain(other);
  return *this;
}

// Tensor adds methods to TensorBase but no members.
static_assert(sizeof(Tensor) == sizeof(TensorBase));

const Tensor& OperandInfo::tensor() const {
  return static_cast<const Tensor&>(tensor_base());
}

const Tensor& OperandInfo::original_tensor() const {
  return static_cast<const Tensor&>(original_);
}

void OperandInfo::exchange_tensor(TensorBase&& temporary) {
  original_ = tensor_base();
  own(std::move(temporary));
}

void OperandInfo::restore_original_tensor() {
  own(std::move(original_));
  original_ = TensorBase();
}

// ---- config ------------------------------------------------------------------------------------------------------

OperandInfo& TensorIteratorConfig::add(bool output) {
  TORCH_INTERNAL_ASSERT(
      !output || static_cast<int>(operands_.size()) == num_outputs_, "TensorIteratorConfig: add all outputs before inputs");
  num_outputs_ += output;
  operands_.emplace_back();
  return operands_.back();
}

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_output(const TensorBase& output) {
  add(true).borrowed_ = &output;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_input(const TensorBase& input) {
  add(false).borrowed_ = &input;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_borrowed_const_input(const TensorBase& input) {
  OperandInfo& op = add(false);
  op.borrowed_ = &input;
  op.is_const = true;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_output(const TensorBase& output) {
  add(true).owned_ = output;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_input(const TensorBase& input) {
  add(false).owned_ = input;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_const_input(const TensorBase& input) {
  OperandInfo& op = add(false);
  op.owned_ = input;
  op.is_const = true;
  return *this;
}

namespace {

// Writes the value of a Scalar in its own dtype.
ScalarType store_scalar(const c10::Scalar& number, void* value) {
  const ScalarType type = number.type();
  switch (type) {
    case ScalarType::Double:
      *static_cast<double*>(value) = number.toDouble();
      break;
    case ScalarType::ComplexDouble:
      *static_cast<c10::complex<double>*>(value) = number.toComplexDouble();
      break;
    case ScalarType::Bool:
      *static_cast<bool*>(value) = number.toBool();
      break;
    case ScalarType::UInt64:
      *static_cast<std::uint64_t*>(value) = number.toUInt64();
      break;
    default:
      *static_cast<std::int64_t*>(value) = number.toLong();
      break;
  }
  return type;
}

} // namespace

TensorIteratorConfig& TensorIteratorConfig::add_scalar_input(const c10::Scalar& number) {
  OperandInfo& op = add(false);
  op.is_number_ = true;
  op.is_const = true;
  op.original_value_dtype_ = store_scalar(number, op.original_value_);
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype_and_device(ScalarType dtype, Device device) {
  return declare_static_dtype(dtype).declare_static_device(device);
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(ScalarType dtype) {
  static_dtype_ = dtype;
  return set(kCheckSameDtype, false);
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_device(Device device) {
  static_device_ = device;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  // An output is still checked, but against a shape that is not to be changed.
  static_shape_ = DimVector(shape.begin(), shape.end());
  return set(kResizeOutputs, false);
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape, IntArrayRef squash_dims) {
  declare_static_shape(shape);
  for (const int64_t dim : squash_dims) {
    (*static_shape_)[dim] = 1;
  }
  return *this;
}

// ---- build -------------------------------------------------------------------------------------------------------

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  operands_ = std::move(config.operands_);
  num_outputs_ = config.num_outputs_;
  build_operands(config.flags_, Statics{config.static_shape_, config.static_dtype_, config.static_device_});
}

void TensorIteratorBase::build_operands(std::uint32_t flags, const Statics& statics) {
  is_reduction_ = (flags & TensorIteratorConfig::kReduction) != 0;
  enforce_linear_iteration_ = (flags & TensorIteratorConfig::kLinear) != 0;
  for (OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor_base();
    if (op.is_number_) {
      op.device = Device(c10::DeviceType::CPU);
      op.target_dtype = op.current_dtype = op.original_value_dtype_;
    } else if (tensor.defined()) {
      TORCH_CHECK(
          tensor.layout() == c10::kStrided, "unsupported tensor layout: ", tensor.layout(),
          ". Convert the tensor with .to_dense() first");
      op.device = tensor.device();
      op.target_dtype = op.current_dtype = tensor.scalar_type();
    }
  }
  mark_outputs();
  if ((flags & TensorIteratorConfig::kCheckMemOverlap) != 0) {
    compute_mem_overlaps();
  }
  compute_shape(flags, statics);
  mark_resize_outputs(flags);
  compute_types(flags, statics);
  if (!fast_set_up()) {
    compute_strides(statics);
    reorder_dimensions();
    allocate_or_resize_outputs();
    if (!is_meta_) {
      coalesce_dimensions();
    }
  }
  if (is_meta_) {
    return;
  }
  for (OperandInfo& op : operands_) {
    if (op.inline_value_) {
      op.data = op.value_;
    } else if (op.is_const && !op.is_output) {
      op.data = const_cast<void*>(op.tensor_base().const_data_ptr());
    } else {
      op.data = op.tensor_base().mutable_data_ptr();
    }
  }
  view_offsets_.assign(is_reduction_ ? shape_.size() : 0, 0);
}

void TensorIteratorBase::mark_outputs() {
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& out = operands_[i];
    out.is_output = true;
    const TensorBase& output = out.tensor_base();
    if (!output.defined()) {
      continue;
    }
    for (int arg = num_outputs_; arg < ntensors(); ++arg) {
      if (output.is_same(operands_[arg].tensor_base())) {
        out.is_read_write = true;
      }
    }
  }
}

void TensorIteratorBase::compute_mem_overlaps() const {
  for (int i = 0; i < num_outputs_; ++i) {
    const TensorBase& output = operands_[i].tensor_base();
    if (!output.defined()) {
      continue;
    }
    assert_no_internal_overlap(output);
    for (int arg = num_outputs_; arg < ntensors(); ++arg) {
      const TensorBase& input = operands_[arg].tensor_base();
      if (input.defined() && !input.is_same(output)) {
        assert_no_partial_overlap(output, input);
      }
    }
  }
}

namespace {

// `into` becomes the shape to which it and `shape` broadcast.
void broadcast(DimVector& into, IntArrayRef shape) {
  const auto ndim = std::max(into.size(), shape.size());
  into.insert(into.begin(), ndim - into.size(), 1);
  for (std::size_t i = ndim - shape.size(); i < ndim; ++i) {
    const int64_t size = shape[i - (ndim - shape.size())];
    TORCH_CHECK(
        into[i] == size || into[i] == 1 || size == 1, "The size of tensor a (", into[i],
        ") must match the size of tensor b (", size, ") at non-singleton dimension ", i);
    if (into[i] == 1) {
      into[i] = size;
    }
  }
}

} // namespace

void TensorIteratorBase::compute_shape(std::uint32_t flags, const Statics& statics) {
  if (statics.shape.has_value()) {
    shape_ = *statics.shape;
    all_ops_same_shape_ = false;
    return;
  }
  all_ops_same_shape_ = true;
  bool seen = false;
  for (const OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor_base();
    if ((!tensor.defined() && !op.is_number_) || (op.is_output && (flags & TensorIteratorConfig::kResizeOutputs) != 0)) {
      continue;
    }
    const IntArrayRef shape = op.is_number_ ? IntArrayRef() : tensor.sizes();
    if (!seen) {
      shape_.assign(shape.begin(), shape.end());
      seen = true;
    } else if (!shape.equals(shape_)) {
      all_ops_same_shape_ = false;
      broadcast(shape_, shape);
    }
  }
}

void TensorIteratorBase::mark_resize_outputs(std::uint32_t flags) {
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = operands_[i];
    const TensorBase& output = op.tensor_base();
    if (!output.defined() || output.sizes().equals(shape_)) {
      continue;
    }
    if ((flags & TensorIteratorConfig::kResizeOutputs) != 0 && !op.is_read_write) {
      op.will_resize = true;
      continue;
    }
    TORCH_CHECK(
        is_reduction_, "output with shape ", output.sizes(), " doesn't match the broadcast shape ", IntArrayRef(shape_));
  }
}

// ---- dtypes and devices ------------------------------------------------------------------------------------------

ScalarType TensorIteratorBase::compute_common_dtype() const {
  native::ResultTypeState state;
  for (const OperandInfo& op : operands_) {
    if (op.is_output || op.keeps_dtype_) {
      continue;
    }
    if (op.is_number_) {
      // The rank of plain numbers: only the kind of the dtype matters, and Scalar's constructors keep it.
      switch (op.original_value_dtype_) {
        case ScalarType::Double:
          state = native::update_result_type_state(c10::Scalar(0.0), state);
          break;
        case ScalarType::ComplexDouble:
          state = native::update_result_type_state(c10::Scalar(c10::complex<double>(0, 0)), state);
          break;
        case ScalarType::Bool:
          state = native::update_result_type_state(c10::Scalar(false), state);
          break;
        default:
          state = native::update_result_type_state(c10::Scalar(int64_t{0}), state);
          break;
      }
    } else {
      state = native::update_result_type_state(op.tensor_base(), state);
    }
  }
  return native::result_type(state);
}

void TensorIteratorBase::compute_types(std::uint32_t flags, const Statics& statics) {
  ScalarType common = ScalarType::Undefined;
  bool inputs_differ = false, outputs_differ = false;
  ScalarType output_dtype = ScalarType::Undefined;
  bool device_seen = false;
  for (OperandInfo& op : operands_) {
    if (!op.tensor_base().defined() && !op.is_number_) {
      TORCH_CHECK(op.is_output, "TensorIterator: input ", &op - operands_.begin() - num_outputs_, " is undefined");
      if (statics.dtype.has_value()) {
        op.target_dtype = *statics.dtype;
      }
      op.device = statics.device;
      continue;
    }
    if (!op.is_number_) {
      const Device device = *op.device;
      if (!device_seen || (common_device_.is_cpu() && !device.is_cpu())) {
        common_device_ = device;
        device_seen = true;
      }
    }
    if (op.keeps_dtype_) {
      continue;
    }
    ScalarType& group = op.is_output ? output_dtype : common;
    if (group == ScalarType::Undefined) {
      group = op.target_dtype;
    } else if (group != op.target_dtype) {
      (op.is_output ? outputs_differ : inputs_differ) = true;
    }
  }
  if (!device_seen && statics.device.has_value()) {
    common_device_ = *statics.device;
  }
  is_meta_ = common_device_.is_meta();

  if ((flags & TensorIteratorConfig::kCheckSameDtype) != 0 &&
      (inputs_differ || outputs_differ || (common != output_dtype && output_dtype != ScalarType::Undefined &&
                                           common != ScalarType::Undefined))) {
    for (const OperandInfo& op : operands_) {
      TORCH_CHECK(
          !op.tensor_base().defined() || op.target_dtype == common, "Found dtype ", c10::toString(op.target_dtype),
          " but expected ", c10::toString(common));
    }
  }

  const bool promote = (flags & TensorIteratorConfig::kPromoteInputs) != 0;
  if (common == ScalarType::Undefined && !promote) {
    common = output_dtype; // no inputs: fills
  }
  if (inputs_differ) {
    common = promote ? compute_common_dtype() : ScalarType::Undefined;
  }
  if ((flags & TensorIteratorConfig::kIntegersToFloat) != 0 && c10::isIntegralType(common, /*includeBool=*/true)) {
    common = c10::get_default_dtype_as_scalartype();
  }
  common_dtype_ = common;
  ScalarType result = common;
  if (result_rule_ == PointwiseRule::Result::Bool) {
    result = ScalarType::Bool;
  } else if (result_rule_ == PointwiseRule::Result::Real && c10::isComplexType(common)) {
    result = c10::toRealValueType(common);
  }

  int cpu_scalars = 0;
  for (OperandInfo& op : operands_) {
    const TensorBase& tensor = op.tensor_base();
    if (op.is_number_) {
      hold_inline(op, promote && !op.keeps_dtype_ ? common : op.original_value_dtype_);
      continue;
    }
    if (!tensor.defined()) {
      if (!op.is_type_defined()) {
        TORCH_INTERNAL_ASSERT(
            result != ScalarType::Undefined, "TensorIterator: inputs of different dtypes give the output no dtype");
        op.target_dtype = result;
      }
      if (!op.is_device_defined()) {
        op.device = common_device_;
      }
      op.current_dtype = op.target_dtype;
      continue;
    }
    if ((flags & TensorIteratorConfig::kCheckSameDevice) != 0 && *op.device != common_device_) {
      const bool cpu_scalar = !op.is_output && tensor.dim() == 0 && op.device->is_cpu();
      TORCH_CHECK(
          cpu_scalar, "Expected all tensors to be on the same device, but found at least two devices, ",
          common_device_.str(), " and ", op.device->str(), "!");
      TORCH_CHECK(
          ++cpu_scalars <= ((flags & TensorIteratorConfig::kCpuScalars) != 0 ? 1 : 0),
          "Trying to pass too many CPU scalars to non-CPU kernel!");
    }
    if (op.is_output) {
      TORCH_CHECK(
          (flags & TensorIteratorConfig::kSafeCasting) == 0 || op.current_dtype == result ||
              c10::canCast(result, op.current_dtype),
          "result type ", c10::toString(result), " can't be cast to the desired output type ",
          c10::toString(op.current_dtype));
      if ((flags & TensorIteratorConfig::kCastOutputs) != 0 && op.current_dtype != result && !is_meta_) {
        has_cast_outputs_ = true;
        if (op.will_resize) {
          // Allocated in its new shape like a missing output; the caller's tensor is resized at the end.
          op.exchange_tensor(TensorBase());
          op.will_resize = false;
          op.target_dtype = op.current_dtype = result;
        } else {
          cast_operand(op, result, /*copy_in=*/false);
        }
      }
    } else if (promote && !op.keeps_dtype_ && op.current_dtype != common && !is_meta_) {
      if (tensor.dim() == 0 && op.device->is_cpu()) {
        op.original_value_dtype_ = op.current_dtype;
        std::memcpy(op.original_value_, tensor.const_data_ptr(), tensor.itemsize());
        hold_inline(op, common);
      } else {
        cast_operand(op, common, /*copy_in=*/true);
      }
    }
  }
}

void TensorIteratorBase::hold_inline(OperandInfo& op, ScalarType dtype) {
  native::convert_elements(dtype, op.value_, 0, op.original_value_dtype_, op.original_value_, 0, 1);
  op.inline_value_ = true;
  op.target_dtype = op.current_dtype = dtype;
}

void TensorIteratorBase::cast_operand(OperandInfo& op, ScalarType dtype, bool copy_in) {
  const TensorBase& tensor = op.tensor_base();
  if (copy_in && !tensor.device().is_cpu()) {
    op.exchange_tensor(tensor.to(TensorOptions(dtype)));
  } else {
    TensorSpec spec = TensorSpec::like(tensor, tensor.sizes(), dtype);
    if (!tensor.is_contiguous()) {
      spec.strides = native::dense_strides_like(tensor.sizes(), tensor.strides(), tensor.is_non_overlapping_and_dense());
    }
    Tensor temporary = empty_spec(spec);
    if (copy_in) {
      native::convert_tensor(temporary, tensor);
    }
    op.exchange_tensor(std::move(temporary));
  }
  op.target_dtype = op.current_dtype = dtype;
}

void TensorIteratorBase::cast_outputs_slow() {
  for (OperandInfo& op : operands_) {
    if (!op.is_output || !op.original_.defined()) {
      continue;
    }
    if (op.original_.sizes() != op.tensor_base().sizes()) {
      native::resize_output(op.original_tensor(), op.tensor_base().sizes());
    }
    if (op.original_.device().is_cpu()) {
      native::convert_tensor(op.original_, op.tensor_base());
    } else {
      op.original_tensor().copy_(op.tensor());
    }
    op.restore_original_tensor();
    op.current_dtype = op.target_dtype = op.tensor_base().scalar_type();
  }
  has_cast_outputs_ = false;
}

ScalarType TensorIteratorBase::common_dtype() const {
  TORCH_INTERNAL_ASSERT(common_dtype_ != ScalarType::Undefined, "Queried for invalid common dtype!");
  return common_dtype_;
}

void TensorIteratorBase::read_scalar(int64_t arg, ScalarType dtype, void* value, bool original) const {
  const OperandInfo& op = operands_[arg];
  if (original && op.inline_value_) {
    native::convert_elements(dtype, value, 0, op.original_value_dtype_, op.original_value_, 0, 1);
  } else if (original && op.original_.defined()) {
    native::convert_elements(dtype, value, 0, op.original_.scalar_type(), op.original_.const_data_ptr(), 0, 1);
  } else {
    native::convert_elements(dtype, value, 0, op.current_dtype, op.data, 0, 1);
  }
}

// ---- pointwise operators -----------------------------------------------------------------------------------------

namespace {

// bool < integers < floating < complex
int kind_of(ScalarType type) {
  return c10::isComplexType(type) ? 3 : c10::isFloatingType(type) ? 2 : type == ScalarType::Bool ? 0 : 1;
}

} // namespace

void TensorIteratorBase::set_fast_operand(int arg, const TensorBase& tensor, bool repeat) {
  OperandInfo& op = operands_[arg];
  op.borrowed_ = &tensor;
  op.device = common_device_;
  op.target_dtype = op.current_dtype = tensor.scalar_type();
  op.is_const = true;
  op.data = const_cast<void*>(tensor.const_data_ptr());
  op.stride_bytes.push_back(repeat ? 0 : static_cast<int64_t>(tensor.itemsize()));
}

// The common case in one pass: one tensor leads, the others are of its dtype and shape and contiguous as it, or are
// single values that do not change the dtype. Anything else is left to the general path, which nothing here disturbs.
bool TensorIteratorBase::try_pointwise_fast(
    const TensorBase* out,
    const PointwiseInput* inputs,
    int count,
    PointwiseRule rule) {
  const TensorBase* lead = nullptr;
  for (int i = 0; i < count; ++i) {
    const TensorBase* tensor = inputs[i].tensor;
    if (tensor == nullptr) {
      continue;
    }
    if (!tensor->defined()) {
      return false;
    }
    if (lead == nullptr || (lead->dim() == 0 && tensor->dim() > 0)) {
      lead = tensor;
    }
  }
  if (lead == nullptr || rule.keep_mask != 0) {
    return false;
  }
  const c10::TensorImpl* impl = lead->unsafeGetTensorImpl();
  if (!impl->is_contiguous() || impl->is_wrapped_number() || impl->layout() != c10::kStrided) {
    return false;
  }
  const ScalarType dtype = lead->scalar_type();
  const Device device = lead->device();
  const IntArrayRef sizes = lead->sizes();
  const bool cpu = device.is_cpu();
  ScalarType result = dtype;
  switch (rule.result) {
    case PointwiseRule::Result::Common:
      break;
    case PointwiseRule::Result::Float:
      if (kind_of(dtype) < 2) {
        return false;
      }
      break;
    case PointwiseRule::Result::Bool:
      result = ScalarType::Bool;
      break;
    case PointwiseRule::Result::Real:
      if (kind_of(dtype) == 3) {
        return false;
      }
      break;
  }
  for (int i = 0; i < count; ++i) {
    const TensorBase* tensor = inputs[i].tensor;
    if (tensor == nullptr) {
      if (kind_of(inputs[i].number->type()) > kind_of(dtype)) {
        return false;
      }
    } else if (tensor != lead) {
      const c10::TensorImpl* other = tensor->unsafeGetTensorImpl();
      if (tensor->scalar_type() != dtype || tensor->device() != device || !other->is_contiguous() ||
          other->layout() != c10::kStrided) {
        return false;
      }
      if (!other->sizes().equals(sizes) && !(other->dim() == 0 && cpu)) {
        return false;
      }
    }
  }
  const bool allocate = out == nullptr || !out->defined();
  if (!allocate) {
    const c10::TensorImpl* target = out->unsafeGetTensorImpl();
    if (out->scalar_type() != result || out->device() != device || !target->is_contiguous() ||
        !target->sizes().equals(sizes) || target->layout() != c10::kStrided) {
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

  common_dtype_ = dtype;
  common_device_ = device;
  is_meta_ = device.is_meta();
  num_outputs_ = 1;
  all_ops_same_shape_ = true;
  has_coalesced_dimensions_ = true;
  shape_.push_back(impl->numel());
  operands_.resize(count + 1);
  if (allocate) {
    OperandInfo& op = operands_[0];
    op.own(empty_contiguous(sizes, result, device));
    op.target_dtype = op.current_dtype = result;
    op.device = device;
    op.stride_bytes.push_back(static_cast<int64_t>(op.owned_.itemsize()));
  } else {
    set_fast_operand(0, *out, false);
  }
  OperandInfo& op = operands_[0];
  op.is_output = true;
  op.is_const = false;
  if (!is_meta_) {
    op.data = op.tensor_base().mutable_data_ptr();
  }
  for (int i = 0; i < count; ++i) {
    const TensorBase* tensor = inputs[i].tensor;
    if (tensor != nullptr) {
      op.is_read_write |= !allocate && tensor->is_same(*out);
      set_fast_operand(i + 1, *tensor, tensor->dim() == 0 && tensor != lead);
    } else {
      OperandInfo& number = operands_[i + 1];
      number.is_number_ = true;
      number.is_const = true;
      number.device = Device(c10::DeviceType::CPU);
      number.original_value_dtype_ = store_scalar(*inputs[i].number, number.original_value_);
      hold_inline(number, dtype);
      number.data = number.value_;
      number.stride_bytes.push_back(0);
    }
  }
  return true;
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
      op.original_value_dtype_ = store_scalar(*input.number, op.original_value_);
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
  OperandInfo& op = operands_[arg];
  if (op.borrowed_ != nullptr) {
    return Tensor(*op.borrowed_);
  }
  return Tensor(std::move(op.owned_));
}

} // namespace at
