#include <aten/iterator/TensorIterator.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIteratorDetail.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/replace_output.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace at {

using c10::Device;
using c10::MemoryFormat;
using c10::ScalarType;

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
  is_scalar_ = other.is_scalar_;
  keeps_dtype_ = other.keeps_dtype_;
  inline_value_ = other.inline_value_;
  borrowed_ = other.borrowed_;
  original_value_dtype_ = other.original_value_dtype_;
  if (is_scalar_ || inline_value_) {
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
    : stride_bytes(std::move(other.stride_bytes)),
      owned_(std::move(other.owned_)),
      original_(std::move(other.original_)) {
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
      !output || static_cast<int>(operands_.size()) == num_outputs_,
      "TensorIteratorConfig: add all outputs before inputs");
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

namespace detail {

ScalarType store_scalar(const c10::Scalar& scalar, void* value) {
  const ScalarType type = scalar.type();
  switch (type) {
    case ScalarType::Double:
      *static_cast<double*>(value) = scalar.toDouble();
      break;
    case ScalarType::ComplexDouble:
      *static_cast<c10::complex<double>*>(value) = scalar.toComplexDouble();
      break;
    case ScalarType::Bool:
      *static_cast<bool*>(value) = scalar.toBool();
      break;
    case ScalarType::UInt64:
      *static_cast<std::uint64_t*>(value) = scalar.toUInt64();
      break;
    default:
      *static_cast<std::int64_t*>(value) = scalar.toLong();
      break;
  }
  return type;
}

} // namespace detail

TensorIteratorConfig& TensorIteratorConfig::add_scalar_input(const c10::Scalar& scalar) {
  OperandInfo& op = add(false);
  op.is_scalar_ = true;
  op.is_const = true;
  op.original_value_dtype_ = detail::store_scalar(scalar, op.original_value_);
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

namespace {

// A declared shape may be smaller than an output, along dimensions that the loop walks by itself. It may not be larger.
template <class Operands>
void check_static_outputs(const Operands& operands, int num_outputs, IntArrayRef shape) {
  for (int i = 0; i < num_outputs; ++i) {
    const TensorBase& output = operands[i].tensor_base();
    if (!output.defined()) {
      continue;
    }
    const IntArrayRef sizes = output.sizes();
    const bool covers =
        sizes.size() == shape.size() && std::equal(sizes.begin(), sizes.end(), shape.begin(), std::greater_equal<>());
    TORCH_CHECK(covers, "output with shape ", sizes, " doesn't match the broadcast shape ", shape);
  }
}

} // namespace

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
    if (op.is_scalar_) {
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
  if (statics.shape.has_value()) {
    check_static_outputs(operands_, num_outputs_, shape_);
  } else {
    mark_resize_outputs(flags);
  }
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
  for (std::size_t i = ndim; i-- > ndim - shape.size();) {
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
    if ((!tensor.defined() && !op.is_scalar_) ||
        (op.is_output && (flags & TensorIteratorConfig::kResizeOutputs) != 0)) {
      continue;
    }
    const IntArrayRef shape = op.is_scalar_ ? IntArrayRef() : tensor.sizes();
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
        is_reduction_, "output with shape ", output.sizes(), " doesn't match the broadcast shape ",
        IntArrayRef(shape_));
  }
}

// ---- dtypes and devices ------------------------------------------------------------------------------------------

ScalarType TensorIteratorBase::compute_common_dtype() const {
  native::ResultTypeState state;
  for (const OperandInfo& op : operands_) {
    if (op.is_output || op.keeps_dtype_) {
      continue;
    }
    if (op.is_scalar_) {
      // The rank of plain scalars: only the kind of the dtype matters, and Scalar's constructors keep it.
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
    if (!op.tensor_base().defined() && !op.is_scalar_) {
      TORCH_CHECK(op.is_output, "TensorIterator: input ", &op - operands_.begin() - num_outputs_, " is undefined");
      if (statics.dtype.has_value()) {
        op.target_dtype = *statics.dtype;
      }
      op.device = statics.device;
      continue;
    }
    if (!op.is_scalar_) {
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
      (inputs_differ || outputs_differ ||
       (common != output_dtype && output_dtype != ScalarType::Undefined && common != ScalarType::Undefined))) {
    for (const OperandInfo& op : operands_) {
      TORCH_CHECK(
          !op.tensor_base().defined() || op.target_dtype == common, "Found dtype ", c10::toString(op.target_dtype),
          " but expected ", c10::toString(common));
    }
  }

  const bool promote = (flags & TensorIteratorConfig::kPromoteInputs) != 0;
  const bool loop_converts = (flags & TensorIteratorConfig::kLoopConverts) != 0;
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
    if (op.is_scalar_) {
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
      const bool has_meta_input = std::any_of(operands_.begin(), operands_.end(), [](const OperandInfo& other) {
        return !other.is_output && !other.is_scalar_ && other.device.has_value() && other.device->is_meta();
      });
      // The one tensor of an operator is no scalar beside others: its output is where it is.
      const bool alone = result_rule_.has_value() && ntensors() == 2;
      const bool cpu_scalar =
          !op.is_output && !alone && (!is_meta_ || has_meta_input) && tensor.dim() == 0 && op.device->is_cpu();
      TORCH_CHECK(
          cpu_scalar, "Expected all tensors to be on the same device, but found at least two devices, ",
          common_device_.str(), " and ", op.device->str(), "!");
      TORCH_CHECK(
          ++cpu_scalars <= ((flags & TensorIteratorConfig::kCpuScalars) != 0 ? 1 : 0),
          "Trying to pass too many CPU scalars to non-CPU kernel!");
    }
    if (op.is_output) {
      // An operator of one tensor has nothing to promote: its output has the input's dtype, or the rule's.
      const bool one_dtype = result_rule_.has_value() && ntensors() == 2 && result == common &&
          *result_rule_ != PointwiseRule::Result::Float && *result_rule_ != PointwiseRule::Result::Bool;
      TORCH_CHECK(
          !one_dtype || op.current_dtype == result, "Found dtype ", c10::toString(op.current_dtype), " but expected ",
          c10::toString(result));
      TORCH_CHECK(
          !op.is_read_write || result_rule_ != PointwiseRule::Result::Real || result == common,
          "In-place abs is not supported for complex tensors.");
      TORCH_CHECK(
          (flags & TensorIteratorConfig::kSafeCasting) == 0 || op.current_dtype == result ||
              c10::canCast(result, op.current_dtype),
          "result type ", c10::toString(result), " can't be cast to the desired output type ",
          c10::toString(op.current_dtype));
      const bool cast = (flags & TensorIteratorConfig::kCastOutputs) != 0 && op.current_dtype != result &&
          !(loop_converts && detail::loop_may_convert(op.current_dtype));
      // A functor may still refuse its arguments or the dtype: see resize_now for those who run loops of their own.
      const bool late_resize = op.will_resize && result_rule_.has_value();
      if ((cast || late_resize) && !is_meta_) {
        has_cast_outputs_ = true;
        if (op.will_resize) {
          // Allocated in its new shape like a missing output; the caller's tensor is resized at the end.
          op.exchange_tensor(TensorBase());
          op.will_resize = false;
          op.target_dtype = op.current_dtype = cast ? result : op.current_dtype;
        } else {
          cast_operand(op, result, /*copy_in=*/false);
        }
      }
    } else if (promote && !op.keeps_dtype_ && op.current_dtype != common) {
      if (tensor.dim() == 0 && op.device->is_cpu()) {
        op.original_value_dtype_ = op.current_dtype;
        std::memcpy(op.original_value_, tensor.const_data_ptr(), tensor.itemsize());
        hold_inline(op, common);
      } else if (!loop_converts || !detail::loop_may_convert(op.current_dtype)) {
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
  if (copy_in && !tensor.device().is_cpu() && !is_meta_) {
    op.exchange_tensor(tensor.to(TensorOptions(dtype)));
  } else {
    TensorSpec spec = TensorSpec::like(tensor, tensor.sizes(), dtype);
    if (!native::has_strides_of_new(tensor)) {
      spec.strides =
          native::dense_strides_like(tensor.sizes(), tensor.strides(), tensor.is_non_overlapping_and_dense());
    }
    Tensor temporary = empty_spec(spec);
    if (copy_in && !is_meta_) {
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
      native::replace_output(op.original_tensor(), op.tensor());
    } else if (op.original_.device().is_cpu()) {
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
  const OperandInfo& op = operands()[arg];
  if (original && op.inline_value_) {
    native::convert_elements(dtype, value, 0, op.original_value_dtype_, op.original_value_, 0, 1);
  } else if (original && op.original_.defined()) {
    native::convert_elements(dtype, value, 0, op.original_.scalar_type(), op.original_.const_data_ptr(), 0, 1);
  } else {
    native::convert_elements(dtype, value, 0, op.current_dtype, op.data, 0, 1);
  }
}

} // namespace at
