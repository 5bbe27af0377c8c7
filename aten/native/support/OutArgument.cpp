#include <aten/native/support/OutArgument.h>

#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/replace_output.h>
#include <aten/ops/copy__ops.h>
#include <aten/ops/resize__ops.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace at::native {
namespace {

/// Elements from the first to the last that sizes and strides name.
int64_t extent(IntArrayRef sizes, IntArrayRef strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return 0;
  }
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

void check_dtype(const char* op, const Tensor& out, c10::ScalarType dtype, OutDtype allowed, bool inplace = false) {
  if (out.scalar_type() == dtype || allowed == OutDtype::Any) {
    return;
  }
  if (allowed == OutDtype::Cast) {
    TORCH_CHECK(
        c10::canCast(dtype, out.scalar_type()), "result type ", dtype, " can't be cast to the desired output type ",
        out.scalar_type(), " (in ", op, ")");
    return;
  }
  TORCH_CHECK(
      !inplace, "Bad in-place call: input tensor dtype ", out.dtype().name(), " and output tensor dtype ",
      c10::scalarTypeToTypeMeta(dtype).name(), " should match (in ", op, ")");
  TORCH_CHECK(
      false, "Expected out tensor to have dtype ", c10::scalarTypeToTypeMeta(dtype).name(), ", but got ",
      out.dtype().name(), " instead (in ", op, ")");
}

void check_device(const char* op, const Tensor& out, c10::Device device) {
  TORCH_CHECK(
      out.device() == device, "Expected out tensor to have device ", device, ", but got ", out.device(),
      " instead (in ", op, ")");
}

void check_fits(const char* op, const Tensor& out, const TensorSpec& spec, OutArgument::Policy policy) {
  TORCH_CHECK(out.defined(), op, ": the output tensor is undefined");
  check_device(op, out, spec.device);
  check_dtype(op, out, spec.dtype, policy.dtype, policy.form == OutArgument::Form::Inplace);
  if (policy.form == OutArgument::Form::Inplace) {
    TORCH_CHECK(
        out.sizes() == IntArrayRef(spec.sizes), "Bad in-place call: input tensor size ", out.sizes(),
        " and output tensor size ", IntArrayRef(spec.sizes), " should match (in ", op,
        "): an in-place operator cannot change the shape of self");
  }
  // One that is resized, or takes other strides, gets elements of its own.
  if (out.sizes() == IntArrayRef(spec.sizes) && !policy.restride) {
    at::assert_no_internal_overlap(out);
  }
}

bool shares_memory(const Tensor& out, const Tensor& input) {
  return input.defined() && input.has_storage() && out.has_storage() &&
      at::get_overlap_status(out.unsafeGetTensorImpl(), input.unsafeGetTensorImpl()) != at::MemOverlapStatus::No;
}

/// Whether two outputs are known to meet: interleaved ones, of which only a search could tell, may be apart.
bool meet(const Tensor& a, const Tensor& b) {
  const at::MemOverlapStatus status = at::get_overlap_status(a, b);
  return status == at::MemOverlapStatus::Full || status == at::MemOverlapStatus::Partial;
}

/// The strides that a new result would have.
c10::DimVector strides_of(const TensorSpec& spec) {
  if (spec.strides) {
    return *spec.strides;
  }
  const IntArrayRef sizes(spec.sizes);
  if (spec.memory_format == MemoryFormat::ChannelsLast || spec.memory_format == MemoryFormat::ChannelsLast3d) {
    const auto strides = spec.memory_format == MemoryFormat::ChannelsLast ? c10::get_channels_last_strides_2d(sizes)
                                                                          : c10::get_channels_last_strides_3d(sizes);
    return c10::DimVector(strides.begin(), strides.end());
  }
  c10::DimVector strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

} // namespace

void OutArgument::check(
    const char* op, std::initializer_list<const Tensor*> outs, c10::ArrayRef<TensorSpec> specs, Policy policy) {
  const TensorSpec* spec = specs.begin();
  for (const Tensor* out : outs) {
    check_fits(op, *out, *spec++, policy);
    TORCH_CHECK(out->layout() == kStrided, op, ": expected strided outputs, but got one of layout ", out->layout());
    for (const Tensor* other : outs) {
      if (other == out) {
        break;
      }
      TORCH_CHECK(
          !other->is_same(*out) && !meet(*out, *other), op,
          ": unsupported operation: two outputs share memory. Give each of them a tensor of its own");
    }
  }
}

OutArgument::OutArgument(
    const char* op,
    Tensor& out,
    const TensorSpec& spec,
    Policy policy,
    std::initializer_list<const Tensor*> inputs,
    TensorList more_inputs)
    : out_(out) {
  check_fits(op, out, spec, policy);
  bool needs_temporary = out.scalar_type() != spec.dtype;
  for (const Tensor* input : inputs) {
    needs_temporary = needs_temporary || shares_memory(out, *input);
  }
  for (const Tensor& input : more_inputs) {
    needs_temporary = needs_temporary || shares_memory(out, input);
  }
  if (out.sizes() != IntArrayRef(spec.sizes)) {
    // Inputs may live in the storage that is to be resized, and the kernel may refuse what it finds in them.
    TensorSpec resized = spec;
    resized.memory_format = c10::MemoryFormat::Contiguous;
    if (policy.contiguous) {
      resized.strides.reset();
    }
    temporary_ = empty_spec(resized);
  } else {
    restrides_ = policy.restride && out.strides() != IntArrayRef(strides_of(spec));
    if (needs_temporary || restrides_ || (policy.contiguous && !out.is_contiguous())) {
      temporary_ = empty_spec(spec);
    }
  }
}

namespace {

void warn_of_resize(const Tensor& out, IntArrayRef sizes) {
  if (out.numel() != 0) {
    TORCH_WARN(
        "An output with one or more elements was resized since it had shape ", out.sizes(),
        ", which does not match the required output shape ", sizes,
        ". This behavior is deprecated: resize the output to zero elements first, or give one of the right shape.");
  }
}

void set_size(const Tensor& out, IntArrayRef sizes) {
  at::_ops::resize_::call(const_cast<Tensor&>(out), c10::fromIntArrayRefSlow(sizes), std::nullopt);
}

/// Gives `out` the sizes and strides of `result` over its own memory, grown where that is too small.
void set_layout(const Tensor& out, const Tensor& result) {
  // Strides may reach further than the elements alone would. An expanded output of the same sizes has too little
  // memory, which resize_ would not see.
  out.unsafeGetTensorImpl()->set_sizes_contiguous({0});
  set_size(out, extent(result.sizes(), result.strides()));
  out.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides());
}

/// Whether resizing `out` would give it new memory, all of which `result` fills, from the same allocator.
bool can_take_memory(const Tensor& out, const Tensor& result) {
  if (out.scalar_type() != result.scalar_type() || out.storage_offset() != 0 || result.storage_offset() != 0 ||
      !out.has_storage() || out.is_conj() != result.is_conj() || out.is_neg() != result.is_neg() ||
      result.use_count() != 1 || !result.storage().is_uniquely_owned()) {
    return false;
  }
  const c10::StorageImpl& to = *out.storage().unsafeGetStorageImpl();
  const c10::StorageImpl& from = *result.storage().unsafeGetStorageImpl();
  return to.is_plain() && from.is_plain() && to.allocator() == from.allocator() && to.device() == from.device() &&
      to.nbytes() < from.nbytes() && result.is_non_overlapping_and_dense();
}

} // namespace

bool resize_output_check(const Tensor& out, IntArrayRef sizes) {
  if (out.sizes() == sizes) {
    return false;
  }
  warn_of_resize(out, sizes);
  return true;
}

bool resize_output(const Tensor& out, IntArrayRef sizes) {
  if (!resize_output_check(out, sizes)) {
    return false;
  }
  set_size(out, sizes);
  return true;
}

void OutArgument::commit() {
  if (!temporary_.defined()) {
    return;
  }
  if (restrides_) {
    restride_output(out_, temporary_);
  }
  replace_output(out_, temporary_);
}

void restride_output(const Tensor& out, const Tensor& result) {
  if (out.sizes() == result.sizes() && out.strides() != result.strides()) {
    set_layout(out, result);
  }
}

void replace_output(const Tensor& out, const Tensor& result) {
  if (out.sizes() == result.sizes()) {
    at::_ops::copy_::call(const_cast<Tensor&>(out), result, false);
    return;
  }
  warn_of_resize(out, result.sizes());
  if (result.is_conj() && out.scalar_type() == result.scalar_type()) {
    out.unsafeGetTensorImpl()->_set_conj(true);
  }
  const bool exchanged = can_take_memory(out, result);
  if (exchanged) {
    c10::StorageImpl& to = *out.storage().unsafeGetStorageImpl();
    c10::StorageImpl& from = *result.storage().unsafeGetStorageImpl();
    const size_t bytes = to.nbytes();
    to.set_nbytes(from.nbytes());
    from.set_nbytes(bytes);
    from.set_data_ptr_noswap(to.set_data_ptr(std::move(from._mutable_data_ptr_no_checks())));
    out.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(), result.strides());
  } else {
    set_layout(out, result);
    at::_ops::copy_::call(const_cast<Tensor&>(out), result, false);
  }
}

void expect_meta(const char* op, std::initializer_list<Tensor> results) {
  for (const Tensor& result : results) {
    TORCH_CHECK(
        !result.defined() || result.is_meta(),
        "Expected all tensors to be on the same device, but found at least two devices, meta and ", result.device(),
        "! (in ", op, ")");
  }
}

void copy_into_out(const char* op, Tensor& out, const Tensor& result, OutDtype dtype) {
  TORCH_CHECK(out.defined(), op, ": the output tensor is undefined");
  check_device(op, out, result.device());
  check_dtype(op, out, result.scalar_type(), dtype);
  TORCH_CHECK(
      out.layout() == result.layout() || (out.layout() == kStrided && out.sizes() == result.sizes()), op,
      ": the result has layout ", result.layout(), ", which the given tensor of layout ", out.layout(), " and sizes ",
      out.sizes(), " cannot hold");
  if (out.sizes() == result.sizes()) {
    at::assert_no_internal_overlap(out);
  }
  resize_output(out, result.sizes());
  at::_ops::copy_::call(out, result, false);
}

void copy_into_self(const char* op, Tensor& self, const Tensor& result) {
  check_dtype(op, self, result.scalar_type(), OutDtype::Cast);
  TORCH_CHECK(
      self.sizes() == result.sizes(), "output with shape ", self.sizes(), " doesn't match the broadcast shape ",
      result.sizes(), " (in ", op, "): an in-place operator cannot change the shape of self");
  at::_ops::copy_::call(self, result, false);
}

void check_out_without_grad(const char* op, const Tensor& out) {
  TORCH_CHECK(
      !(c10::GradMode::is_enabled() && out.requires_grad()), op,
      "(): functions with out=... arguments don't support automatic differentiation, ",
      "but one of the arguments requires grad.");
}

} // namespace at::native
