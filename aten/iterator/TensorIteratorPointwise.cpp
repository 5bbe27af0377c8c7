// build_pointwise: the way from an operator's arguments to its loop. See Note [Fast pointwise calls].
#include <aten/iterator/TensorIterator.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/iterator/TensorIteratorDetail.h>
#include <aten/native/support/convert.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/RecycledTensors.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace at {

using c10::Device;
using c10::ScalarType;

namespace {

// bool < integers < floating < complex
int kind_of(ScalarType type) {
  return c10::isComplexType(type) ? 3 : c10::isFloatingType(type) ? 2 : type == ScalarType::Bool ? 0 : 1;
}

// A scalar in a dtype of no lower kind, as a tensor of that scalar would be cast.
void convert_scalar(const c10::Scalar& scalar, ScalarType dtype, void* value) {
  if (scalar.isFloatingPoint() && dtype == ScalarType::Float) {
    *static_cast<float*>(value) = static_cast<float>(scalar.toDouble());
    return;
  }
  alignas(16) char original[16];
  const ScalarType original_dtype = detail::store_scalar(scalar, original);
  native::convert_elements(dtype, value, 0, original_dtype, original, 0, 1);
}

// The tensor whose shape the result has, when it is among the inputs; null when all are scalars.
const c10::TensorImpl* leading_input(const PointwiseInput* inputs, int count) {
  const c10::TensorImpl* lead = nullptr;
  for (int i = 0; i < count && (lead == nullptr || lead->dim() == 0); ++i) {
    if (inputs[i].tensor != nullptr) {
      const c10::TensorImpl* impl = inputs[i].tensor->unsafeGetTensorImpl();
      lead = lead == nullptr || impl->dim() > 0 ? impl : lead;
    }
  }
  return lead;
}

C10_ALWAYS_INLINE bool same_sizes(IntArrayRef a, IntArrayRef b) {
  // Dimensions are few: a loop beats a call.
  bool same = a.size() == b.size();
  for (size_t d = 0; same && d < a.size(); ++d) {
    same = a[d] == b[d];
  }
  return same;
}

// The same for calls of the fast path, which are those of few dimensions.
C10_ALWAYS_INLINE bool same_few_sizes(const c10::impl::SizesAndStrides& a, const c10::impl::SizesAndStrides& b) {
  size_t dim = a.size();
  if (dim > c10::impl::SizesAndStrides::kMaxInline || b.size() != dim) {
    return false;
  }
  const int64_t* const sizes_a = a.sizes_data();
  const int64_t* const sizes_b = b.sizes_data();
  for (; dim != 0; --dim) {
    if (sizes_a[dim - 1] != sizes_b[dim - 1]) {
      return false;
    }
  }
  return true;
}

// Whether the tensor has few dimensions, is row-major, and has the very strides that follow from its sizes.
bool is_small_contiguous(const c10::TensorImpl& tensor) {
  const c10::impl::SizesAndStrides& shape = tensor.sizes_and_strides();
  if (shape.size() > c10::impl::SizesAndStrides::kMaxInline) {
    return false;
  }
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape.stride_at_unchecked(d) != stride) {
      return false;
    }
    stride *= shape.size_at_unchecked(d);
  }
  return true;
}

// Converts a scalar that does not change the dtype; false for others.
C10_NOINLINE bool take_scalar(const c10::Scalar& scalar, ScalarType dtype, void* value) {
  if (kind_of(scalar.type()) > kind_of(dtype)) {
    return false;
  }
  convert_scalar(scalar, dtype, value);
  return true;
}

// The dtype of a result, where it is the inputs' or bool; no dtype for others.
C10_ALWAYS_INLINE caffe2::TypeMeta plain_result_type(PointwiseRule::Result rule, caffe2::TypeMeta type) {
  const int kind = kind_of(c10::typeMetaToScalarType(type));
  switch (rule) {
    case PointwiseRule::Result::Bool:
      return caffe2::TypeMeta::Make<bool>();
    case PointwiseRule::Result::Float:
      return kind < 2 ? caffe2::TypeMeta() : type;
    case PointwiseRule::Result::Real:
      return kind == 3 ? caffe2::TypeMeta() : type;
    default:
      return type;
  }
}

// The rest of a call of the fast path: a new tensor like `lead`, of dtype `type`. There is one call of a function, and
// only `call` is used after it: what else lived on would have to be saved and restored.
C10_ALWAYS_INLINE c10::TensorImpl* make_result(
    PointwiseCall& call,
    int inputs,
    const c10::TensorImpl* lead,
    caffe2::TypeMeta type,
    std::size_t item,
    PointwiseRule::Result rule) {
  call.dtype_1d = c10::typeMetaToScalarType(type);
  call.count = inputs + 1;
  call.numel_1d = lead->plain_numel();
  if (C10_UNLIKELY(rule != PointwiseRule::Result::Common)) {
    type = plain_result_type(rule, type);
    if (type == caffe2::TypeMeta()) {
      return nullptr;
    }
    item = type.itemsize();
  }
  call.output_size = static_cast<std::uint16_t>(item);
  c10::TensorImpl* const result = c10::impl::RecycledTensors::take_like(*lead, type, item);
  if (C10_LIKELY(result != nullptr)) {
    call.data[0] = result->unsafe_storage().unsafeGetStorageImpl()->_data_ptr_no_checks().get();
  }
  return result;
}

// All inputs are tensors.
template <int N>
C10_ALWAYS_INLINE c10::TensorImpl* set_up_tensors(
    PointwiseCall& call, const TensorBase* const (&inputs)[N], PointwiseRule::Result rule) {
  const c10::TensorImpl* const lead = inputs[0]->unsafeGetTensorImpl();
  const caffe2::TypeMeta type = lead->dtype();
  if (C10_UNLIKELY(!type.isScalarType())) {
    return nullptr;
  }
  const std::size_t item = type.itemsize();
  call.input_size = static_cast<std::uint16_t>(item);
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    const c10::TensorImpl* const impl = inputs[i]->unsafeGetTensorImpl();
    if (i > 0 && (impl->dtype() != type || !same_few_sizes(lead->sizes_and_strides(), impl->sizes_and_strides()))) {
      return nullptr;
    }
    call.data[i + 1] = impl->plain_cpu_data(item);
    if (call.data[i + 1] == nullptr) {
      return nullptr;
    }
  }
  call.repeated = call.scalars = 0;
  return make_result(call, N, lead, type, item, rule);
}

} // namespace

c10::TensorImpl* PointwiseCall::set_up_plain(const TensorBase& a, PointwiseRule::Result result) {
  return set_up_tensors(*this, {&a}, result);
}

c10::TensorImpl* PointwiseCall::set_up_plain(const TensorBase& a, const TensorBase& b, PointwiseRule::Result result) {
  return set_up_tensors(*this, {&a, &b}, result);
}

c10::TensorImpl* PointwiseCall::set_up_plain(
    const TensorBase& a, const TensorBase& b, const TensorBase& c, PointwiseRule::Result result) {
  return set_up_tensors(*this, {&a, &b, &c}, result);
}

c10::TensorImpl* PointwiseCall::set_up_plain(const TensorBase& a, const c10::Scalar& b, PointwiseRule::Result result) {
  const c10::TensorImpl* const lead = a.unsafeGetTensorImpl();
  const caffe2::TypeMeta type = lead->dtype();
  if (C10_UNLIKELY(!type.isScalarType())) {
    return nullptr;
  }
  const std::size_t item = type.itemsize();
  input_size = static_cast<std::uint16_t>(item);
  data[1] = lead->plain_cpu_data(item);
  if (data[1] == nullptr || !is_small_contiguous(*lead) ||
      !take_scalar(b, c10::typeMetaToScalarType(type), values[1])) {
    return nullptr; // odd strides in dimensions of one element decide on those of the result
  }
  data[2] = values[1];
  source[2].scalar = &b;
  repeated = scalars = 1u << 2;
  return make_result(*this, 2, lead, type, item, result);
}

namespace {

// The dtype that a loop which converts computes in, beginning with that of one input; false: ask the general path.
bool promote_in_loop(const PointwiseInput* inputs, int count, PointwiseRule rule, ScalarType& dtype) {
  int scalar_kind = 0;
  for (int i = 0; i < count; ++i) {
    if (inputs[i].tensor == nullptr) {
      scalar_kind = std::max(scalar_kind, kind_of(inputs[i].scalar->type()));
      continue;
    }
    const c10::TensorImpl* const impl = inputs[i].tensor->unsafeGetTensorImpl();
    if (const ScalarType other = c10::typeMetaToScalarType(impl->dtype()); other != dtype) {
      if (impl->dim() == 0) {
        return false; // counts for less than the others
      }
      dtype = c10::promoteTypes(dtype, other);
    }
  }
  if (dtype == ScalarType::Undefined) {
    return false;
  }
  if (scalar_kind > kind_of(dtype)) {
    if (scalar_kind == 3) {
      return false;
    }
    dtype = scalar_kind == 2 ? c10::get_default_dtype_as_scalartype() : ScalarType::Long;
  }
  if (rule.result == PointwiseRule::Result::Float && kind_of(dtype) < 2) {
    dtype = c10::get_default_dtype_as_scalartype();
  }
  return true;
}

// Whether a loop that converts may put results of dtype `result` into `out`, where nothing speaks against it that the
// general path would say.
bool may_convert_result(ScalarType result, ScalarType out, int inputs_count, PointwiseRule rule) {
  const bool one_dtype = inputs_count == 1 && rule.result == PointwiseRule::Result::Common;
  return rule.loop_converts && !one_dtype && rule.result != PointwiseRule::Result::Real && c10::canCast(result, out) &&
      detail::loop_may_convert(out);
}

} // namespace

// The common case in one pass: one tensor leads, the others are of its shape and contiguous as it, or are single values
// that do not change the dtype; they are of its dtype too, or the loop converts. Anything else is left to the general
// path, which nothing here disturbs.
bool TensorIteratorBase::try_pointwise_fast(
    const TensorBase* out, const PointwiseInput* inputs, int inputs_count, PointwiseRule rule) {
  if (rule.keep_mask != 0 || inputs_count >= kMax) {
    return false;
  }
  const c10::TensorImpl* const lead = leading_input(inputs, inputs_count);
  if (lead == nullptr || !lead->is_contiguous() || lead->is_wrapped_number() || lead->layout() != c10::kStrided ||
      !lead->has_storage()) {
    return false;
  }
  ScalarType dtype = c10::typeMetaToScalarType(lead->dtype());
  if (rule.loop_converts && !promote_in_loop(inputs, inputs_count, rule, dtype)) {
    return false;
  }
  const caffe2::TypeMeta type = c10::scalarTypeToTypeMeta(dtype);
  const Device device = *lead->device_opt();
  const IntArrayRef sizes = lead->sizes();
  const std::size_t item = type.itemsize();
  ScalarType result = dtype;
  if (rule.result != PointwiseRule::Result::Common) {
    const int kind = kind_of(dtype);
    if ((rule.result == PointwiseRule::Result::Float && kind < 2) ||
        (rule.result == PointwiseRule::Result::Real && kind == 3)) {
      return false;
    }
    if (rule.result == PointwiseRule::Result::Bool) {
      result = ScalarType::Bool;
    }
  }

  PointwiseCall& fast = *this; // not in use until its count is set
  const bool is_meta = device.is_meta();
  bool converts = false;
  std::uint32_t repeated = 0, scalars = 0;
  for (int i = 0; i < inputs_count; ++i) {
    if (inputs[i].tensor == nullptr) {
      if (kind_of(inputs[i].scalar->type()) > kind_of(dtype)) {
        return false;
      }
      scalars |= 2u << i;
      fast.source[i + 1].scalar = inputs[i].scalar;
      fast.data[i + 1] = fast.values[i];
      continue;
    }
    const c10::TensorImpl* impl = inputs[i].tensor->unsafeGetTensorImpl();
    std::size_t own_item = item;
    if (C10_UNLIKELY(impl->dtype() != type)) {
      if (!rule.loop_converts) {
        return false;
      }
      converts = true;
      own_item = impl->itemsize();
    }
    if (impl != lead) {
      const bool same_keys = impl->key_set() == lead->key_set();
      if (!impl->is_contiguous() || !(same_keys || impl->layout() == c10::kStrided) || !impl->has_storage() ||
          !((same_keys && device.is_cpu()) || impl->device_opt() == device)) {
        return false;
      }
      if (!same_sizes(impl->sizes(), sizes)) {
        if (impl->dim() != 0 || !device.is_cpu()) {
          return false;
        }
        repeated |= 2u << i;
      }
    }
    fast.source[i + 1].tensor = inputs[i].tensor;
    if (!is_meta) {
      // As data(), which is a call, for tensors with storage; some address for those without elements.
      fast.data[i + 1] = const_cast<char*>(
          static_cast<const char*>(impl->unsafe_storage().data()) + impl->storage_offset() * own_item);
    }
  }
  const c10::TensorImpl* target;
  std::size_t result_item = result == dtype ? item : 1;
  if (out == nullptr || !out->defined()) {
    if (C10_UNLIKELY((repeated | scalars) != 0 && lead->dim() > 1 && !is_small_contiguous(*lead))) {
      return false; // odd strides of dimensions of one element, or without any, decide on those of the result
    }
    // Into a place that is empty yet.
    fast_output_ = empty_contiguous(sizes, result, device);
    fast.source[0].tensor = nullptr;
    target = fast_output_.unsafeGetTensorImpl();
  } else {
    target = out->unsafeGetTensorImpl();
    if (C10_UNLIKELY(target->dtype() != c10::scalarTypeToTypeMeta(result))) {
      if (!target->dtype().isScalarType() ||
          !may_convert_result(result, c10::typeMetaToScalarType(target->dtype()), inputs_count, rule)) {
        return false;
      }
      converts = true;
      result_item = target->itemsize();
    }
    if (target->device() != device || !target->is_contiguous() || !same_sizes(target->sizes(), sizes) ||
        target->layout() != c10::kStrided || !target->has_storage()) {
      return false;
    }
    for (int i = 0; i < inputs_count; ++i) {
      const TensorBase* tensor = inputs[i].tensor;
      if (tensor != nullptr && !tensor->is_same(*out) &&
          tensor->unsafeGetTensorImpl()->unsafe_storage().is_alias_of(target->unsafe_storage())) {
        return false;
      }
    }
    fast.source[0].tensor = out;
  }
  fast.output_size = static_cast<std::uint16_t>(result_item);
  if (!is_meta) {
    fast.data[0] =
        static_cast<char*>(target->unsafe_storage().mutable_data()) + target->storage_offset() * fast.output_size;
  }
  for (std::uint32_t rest = scalars; C10_UNLIKELY(rest != 0); rest &= rest - 1) {
    const int i = std::countr_zero(rest) - 1;
    convert_scalar(*inputs[i].scalar, dtype, fast.values[i]);
  }
  common_dtype_ = dtype;
  common_device_ = device;
  is_meta_ = is_meta;
  num_outputs_ = 1;
  all_ops_same_shape_ = true;
  has_coalesced_dimensions_ = true;
  shape_.push_back(lead->numel());
  fast.numel_1d = lead->numel();
  fast.dtype_1d = dtype;
  fast.repeated = repeated | scalars;
  fast.scalars = scalars;
  fast.input_size = static_cast<std::uint16_t>(converts ? 0 : item);
  fast.count = inputs_count + 1;
  return true;
}

void TensorIteratorBase::materialize() const {
  TensorIteratorBase& self = const_cast<TensorIteratorBase&>(*this);
  const int operands = std::exchange(self.count, 0);
  self.operands_.resize(operands);
  for (int i = 0; i < operands; ++i) {
    OperandInfo& op = self.operands_[i];
    op.is_output = i == 0;
    op.is_const = i != 0;
    op.device = common_device_;
    if ((scalars >> i) & 1u) {
      op.is_scalar_ = true;
      op.device = Device(c10::DeviceType::CPU);
      op.original_value_dtype_ = detail::store_scalar(*source[i].scalar, op.original_value_);
      self.hold_inline(op, common_dtype_);
      op.data = op.value_;
      op.stride_bytes.assign(1, 0);
      continue;
    }
    if (i == 0 && source[0].tensor == nullptr) {
      op.own(std::move(self.fast_output_));
    } else {
      op.borrowed_ = source[i].tensor;
      self.operands_[0].is_read_write |= i != 0 && op.borrowed_->is_same(self.operands_[0].tensor_base());
    }
    op.target_dtype = op.current_dtype = op.tensor_base().scalar_type();
    op.data = is_meta_ ? nullptr : data[i];
    if (repeated == detail::kGrid) {
      const detail::PointwiseGrid grid = detail::PointwiseGrid::of(*this);
      op.stride_bytes.assign({grid.inner_stride(*this, i), grid.outer_stride(*this, i)});
    } else {
      op.stride_bytes.assign(1, (repeated >> i) & 1u ? 0 : static_cast<int64_t>(op.tensor_base().itemsize()));
    }
  }
}

namespace {

// What build_operands finds for dense CPU tensors of one dtype whose shapes broadcast, worked out in place.
struct BroadcastPlan {
  static constexpr int kMaxDim = static_cast<int>(c10::impl::SizesAndStrides::kMaxInline);
  static constexpr int kMax = PointwiseCall::kMax;

  // False where something is unusual, or wrong. `out` may be null.
  bool make(const TensorBase* out, const PointwiseInput* inputs, int inputs_count, PointwiseRule rule);
  // Whether it is one for a new tensor, of rows, and for one thread: see Note [Broadcast calls].
  bool makes_short_call() const {
    return data[0] == nullptr && (joined == 1 || joined == 2) && numel() <= at::internal::GRAIN_SIZE;
  }
  // Describes that, but for the output and the sources of the inputs.
  void fill_in(PointwiseCall& call) const;
  int64_t numel() const {
    int64_t product = 1;
    for (int d = 0; d < joined; ++d) {
      product *= shape[d];
    }
    return product;
  }

  int count; // operands: the output, then inputs
  ScalarType dtype;
  caffe2::TypeMeta result_type;
  int dim; // of the output
  int64_t sizes[kMaxDim];
  // The iterator's: fastest dimension first, merged where memory allows.
  int joined;
  int64_t shape[kMaxDim];
  int64_t strides[kMax][kMaxDim]; // in bytes
  void* data[kMax];
};

void BroadcastPlan::fill_in(PointwiseCall& call) const {
  call.scalars = 0;
  call.input_size = static_cast<std::uint16_t>(c10::elementSize(dtype));
  call.output_size = static_cast<std::uint16_t>(result_type.itemsize());
  call.dtype_1d = dtype;
  call.numel_1d = numel();
  std::uint32_t repeated = 0;
  for (int i = 1; i < count; ++i) {
    call.data[i] = data[i];
    if (strides[i][0] == 0) {
      repeated |= 1u << i;
    }
  }
  if (joined == 1) {
    call.repeated = repeated;
    return;
  }
  detail::PointwiseGrid grid;
  grid.row_numel = shape[0];
  grid.repeated = repeated;
  for (int i = 1; i < count; ++i) {
    grid.next_row[i - 1] = strides[i][1];
  }
  grid.store(call);
}

bool BroadcastPlan::make(const TensorBase* out, const PointwiseInput* inputs, int inputs_count, PointwiseRule rule) {
  if (rule.keep_mask != 0 || inputs_count >= kMax) {
    return false;
  }
  const c10::impl::SizesAndStrides* shapes[kMax] = {};
  count = inputs_count + 1;
  dim = 0;
  caffe2::TypeMeta type;
  for (int i = 1; i < count; ++i) {
    const TensorBase* const tensor = inputs[i - 1].tensor;
    if (tensor == nullptr) {
      return false;
    }
    const c10::TensorImpl& impl = *tensor->unsafeGetTensorImpl();
    type = i == 1 ? impl.dtype() : type;
    if (impl.dtype() != type || !type.isScalarType() || !is_small_contiguous(impl)) {
      return false;
    }
    data[i] = impl.plain_cpu_data(type.itemsize());
    if (data[i] == nullptr) {
      return false;
    }
    shapes[i] = &impl.sizes_and_strides();
    dim = std::max(dim, static_cast<int>(shapes[i]->size()));
  }
  dtype = c10::typeMetaToScalarType(type);
  result_type = plain_result_type(rule.result, type);
  if (result_type == caffe2::TypeMeta()) {
    return false;
  }

  // From the last dimension to the first, which is the order of the iterator's. All are row-major: so neighbours merge
  // where the same inputs are repeated over them.
  const int64_t item = static_cast<int64_t>(type.itemsize());
  int64_t next[kMax] = {static_cast<int64_t>(result_type.itemsize()), item, item, item, item};
  std::uint32_t repeated = 0; // bit i: operand i, over the last of the merged dimensions
  joined = 0;
  for (int d = 1; d <= dim; ++d) {
    int64_t size = 1;
    std::uint32_t ones = 0;
    for (int i = 1; i < count; ++i) {
      const int rest = static_cast<int>(shapes[i]->size()) - d;
      const int64_t own = rest >= 0 ? shapes[i]->size_at_unchecked(static_cast<size_t>(rest)) : 1;
      if (own == 1) {
        ones |= 1u << i;
      } else if (own == 0 || (size != 1 && size != own)) {
        return false;
      } else {
        size = own;
      }
    }
    sizes[dim - d] = size;
    if (size == 1) {
      continue;
    }
    if (joined > 0 && ones == repeated) {
      shape[joined - 1] *= size;
      continue;
    }
    for (int i = 0; i < count; ++i) {
      if (joined > 0 && ((repeated >> i) & 1u) == 0) {
        next[i] *= shape[joined - 1];
      }
      strides[i][joined] = (ones >> i) & 1u ? 0 : next[i];
    }
    repeated = ones;
    shape[joined++] = size;
  }
  if (out == nullptr || !out->defined()) {
    data[0] = nullptr;
    return true;
  }
  const c10::TensorImpl& target = *out->unsafeGetTensorImpl();
  if (target.dtype() != result_type || !is_small_contiguous(target) ||
      !same_sizes(target.sizes_and_strides().sizes_arrayref(), IntArrayRef(sizes, static_cast<size_t>(dim)))) {
    return false;
  }
  data[0] = target.plain_cpu_data(result_type.itemsize());
  for (int i = 1; i < count; ++i) {
    const TensorBase& input = *inputs[i - 1].tensor;
    if (!input.is_same(*out) && input.unsafeGetTensorImpl()->unsafe_storage().is_alias_of(target.unsafe_storage())) {
      return false;
    }
  }
  return data[0] != nullptr;
}

} // namespace

namespace {

// Whether two tensors are broadcast over each other, by the look of their sizes: then no short form of one shape fits.
C10_ALWAYS_INLINE bool is_of_two_shapes(const PointwiseInput* inputs, int inputs_count) {
  if (inputs_count != 2 || inputs[0].tensor == nullptr || inputs[1].tensor == nullptr) {
    return false;
  }
  const IntArrayRef a = inputs[0].tensor->unsafeGetTensorImpl()->sizes_and_strides().sizes_arrayref();
  const IntArrayRef b = inputs[1].tensor->unsafeGetTensorImpl()->sizes_and_strides().sizes_arrayref();
  return !a.empty() && !b.empty() && !same_sizes(a, b);
}

// Fills the call in for an operator in place: a dense CPU tensor, changed by others of its dtype and shape, or by
// scalars that do not change the dtype. For others it returns false, and nothing has happened to the iterator.
C10_ALWAYS_INLINE bool set_up_in_place(
    PointwiseCall& call, const TensorBase* out, const PointwiseInput* inputs, int inputs_count, PointwiseRule rule) {
  if (out == nullptr || inputs_count == 0 || inputs_count >= PointwiseCall::kMax || inputs[0].tensor == nullptr ||
      !inputs[0].tensor->is_same(*out) || rule.result != PointwiseRule::Result::Common || rule.keep_mask != 0) {
    return false;
  }
  const c10::TensorImpl& self = *out->unsafeGetTensorImpl();
  const caffe2::TypeMeta type = self.dtype();
  if (C10_UNLIKELY(!type.isScalarType())) {
    return false;
  }
  const std::size_t item = type.itemsize();
  call.data[1] = self.plain_cpu_data(item);
  if (call.data[1] == nullptr) {
    return false;
  }
  call.source[0].tensor = call.source[1].tensor = out;
  call.scalars = 0;
  for (int i = 1; i < inputs_count; ++i) {
    if (inputs[i].tensor == nullptr) {
      if (!take_scalar(*inputs[i].scalar, c10::typeMetaToScalarType(type), call.values[i])) {
        return false;
      }
      call.scalars |= 2u << i;
      call.source[i + 1].scalar = inputs[i].scalar;
      call.data[i + 1] = call.values[i];
      continue;
    }
    const c10::TensorImpl& other = *inputs[i].tensor->unsafeGetTensorImpl();
    if (other.dtype() != type || !same_few_sizes(self.sizes_and_strides(), other.sizes_and_strides())) {
      return false;
    }
    call.data[i + 1] = other.plain_cpu_data(item);
    if (call.data[i + 1] == nullptr || (&other != &self && other.unsafe_storage().is_alias_of(self.unsafe_storage()))) {
      return false;
    }
    call.source[i + 1].tensor = inputs[i].tensor;
  }
  // Asks whether it may be written to.
  call.data[0] =
      static_cast<char*>(self.unsafe_storage().mutable_data()) + static_cast<std::size_t>(self.storage_offset()) * item;
  call.repeated = call.scalars;
  call.input_size = call.output_size = static_cast<std::uint16_t>(item);
  call.dtype_1d = c10::typeMetaToScalarType(type);
  call.numel_1d = self.plain_numel();
  return true;
}

} // namespace

void TensorIteratorBase::build_pointwise(
    const TensorBase* out, std::initializer_list<PointwiseInput> inputs, PointwiseRule rule, bool resize_out) {
  const int inputs_count = static_cast<int>(inputs.size());
  if (set_up_in_place(*this, out, inputs.begin(), inputs_count, rule)) {
    common_dtype_ = dtype_1d;
    num_outputs_ = 1;
    all_ops_same_shape_ = true;
    has_coalesced_dimensions_ = true;
    shape_.push_back(numel_1d);
    count = inputs_count + 1; // from here on it is in use
    return;
  }
  const bool broadcast = is_of_two_shapes(inputs.begin(), inputs_count);
  if (C10_LIKELY(!broadcast && try_pointwise_fast(out, inputs.begin(), inputs_count, rule))) {
    return;
  }
  BroadcastPlan plan;
  if (plan.make(out, inputs.begin(), inputs_count, rule)) {
    const Device cpu(c10::DeviceType::CPU);
    if (plan.makes_short_call()) {
      fast_output_ = empty_contiguous(
          IntArrayRef(plan.sizes, static_cast<std::size_t>(plan.dim)), c10::typeMetaToScalarType(plan.result_type),
          cpu);
      plan.fill_in(*this);
      data[0] =
          fast_output_.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()->_data_ptr_no_checks().get();
      source[0].tensor = nullptr;
      for (int i = 0; i < inputs_count; ++i) {
        source[i + 1].tensor = inputs.begin()[i].tensor;
      }
      common_dtype_ = plan.dtype;
      num_outputs_ = 1;
      has_coalesced_dimensions_ = true;
      for (int d = 0; d < plan.joined; ++d) {
        shape_.push_back(plan.shape[d]);
      }
      count = plan.count;
      return;
    }
    operands_.resize(static_cast<std::size_t>(plan.count));
    for (int i = 0; i < plan.count; ++i) {
      OperandInfo& op = operands_[static_cast<std::size_t>(i)];
      op.is_output = i == 0;
      op.is_const = i != 0;
      op.device = cpu;
      op.data = plan.data[i];
      op.stride_bytes.assign(plan.strides[i], plan.strides[i] + plan.joined);
      op.target_dtype = op.current_dtype = i == 0 ? c10::typeMetaToScalarType(plan.result_type) : plan.dtype;
      op.borrowed_ = i == 0 ? out : inputs.begin()[i - 1].tensor;
    }
    OperandInfo& target = operands_[0];
    if (out == nullptr || !out->defined()) {
      target.own(
          empty_contiguous(IntArrayRef(plan.sizes, static_cast<std::size_t>(plan.dim)), target.target_dtype, cpu));
      target.data = target.owned_.mutable_data_ptr();
    } else {
      for (const PointwiseInput& input : inputs) {
        target.is_read_write |= input.tensor->is_same(*out);
      }
    }
    shape_.assign(plan.shape, plan.shape + plan.joined);
    num_outputs_ = 1;
    common_dtype_ = plan.dtype;
    common_device_ = cpu;
    result_rule_ = rule.result;
    has_coalesced_dimensions_ = true;
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
      op.is_scalar_ = true;
      op.original_value_dtype_ = detail::store_scalar(*input.scalar, op.original_value_);
    }
    ++index;
  }
  result_rule_ = rule.result;
  build_operands(
      TensorIteratorConfig::kCheckMemOverlap | TensorIteratorConfig::kCheckSameDevice |
          (resize_out ? TensorIteratorConfig::kResizeOutputs : 0u) | TensorIteratorConfig::kPromoteInputs |
          TensorIteratorConfig::kSafeCasting | TensorIteratorConfig::kCastOutputs | TensorIteratorConfig::kCpuScalars |
          (rule.result == PointwiseRule::Result::Float ? TensorIteratorConfig::kIntegersToFloat : 0u) |
          (rule.loop_converts ? TensorIteratorConfig::kLoopConverts : 0u),
      Statics{no_shape, no_dtype, no_device});
}

Tensor TensorIteratorBase::take_output(int64_t arg) {
  if (C10_LIKELY(count != 0)) {
    return source[0].tensor != nullptr ? Tensor(*source[0].tensor) : Tensor(std::move(fast_output_));
  }
  OperandInfo& op = operands_[arg];
  if (op.borrowed_ != nullptr) {
    return Tensor(*op.borrowed_);
  }
  return Tensor(std::move(op.owned_));
}

} // namespace at
