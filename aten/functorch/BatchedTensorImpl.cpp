#include <aten/functorch/BatchedTensorImpl.h>

#include <aten/core/Tensor.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at::functorch {

namespace {

/// Keys that say what a sample is; those of autograd and names belong to the value.
c10::DispatchKeySet keys_of_sample(const Tensor& value) {
  constexpr c10::DispatchKeySet kept =
      c10::DispatchKeySet({c10::DispatchKey::Dense, c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) |
      c10::backend_bitset_mask;
  return (value.key_set() & kept).add(c10::DispatchKey::FuncTorchBatched);
}

} // namespace

BatchedTensorImpl::BatchedTensorImpl(const Tensor& value, int64_t bdim, VmapLevelPtr level)
    : TensorImpl(keys_of_sample(value), value.dtype(), value.device()),
      value_(value),
      bdim_(bdim),
      level_(std::move(level)) {
  set_storage_access_should_throw();
  refresh_metadata();
}

void BatchedTensorImpl::set_value(const Tensor& value, int64_t bdim) {
  value_ = value;
  bdim_ = bdim;
  refresh_metadata();
}

void BatchedTensorImpl::refresh_metadata() {
  const IntArrayRef sizes = value_.sizes(), strides = value_.strides();
  if (bdim_ == 0) {
    set_sizes_and_strides(sizes.slice(1), strides.slice(1), value_.storage_offset());
  } else {
    c10::DimVector sample_sizes, sample_strides;
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
      if (d != bdim_) {
        sample_sizes.push_back(sizes[static_cast<size_t>(d)]);
        sample_strides.push_back(strides[static_cast<size_t>(d)]);
      }
    }
    set_sizes_and_strides(IntArrayRef(sample_sizes), IntArrayRef(sample_strides), value_.storage_offset());
  }
  if (value_.requires_grad() != requires_grad()) {
    set_requires_grad(value_.requires_grad());
  }
}

void BatchedTensorImpl::set_size(int64_t /*dim*/, int64_t /*new_size*/) {
  TORCH_CHECK(false, "vmap: cannot set a size of a tensor that stands for a sample; make a new tensor");
}
void BatchedTensorImpl::set_stride(int64_t /*dim*/, int64_t /*new_stride*/) {
  TORCH_CHECK(false, "vmap: cannot set a stride of a tensor that stands for a sample; make a new tensor");
}
void BatchedTensorImpl::set_storage_offset(int64_t /*storage_offset*/) {
  TORCH_CHECK(false, "vmap: cannot set the offset of a tensor that stands for a sample; make a new tensor");
}

c10::intrusive_ptr<c10::TensorImpl> BatchedTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const {
  return shallow_copy_and_detach(c10::VariableVersion(version_counter), allow_tensor_metadata_change);
}

c10::intrusive_ptr<c10::TensorImpl> BatchedTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool /*allow_tensor_metadata_change*/) const {
  auto copy = c10::make_intrusive<BatchedTensorImpl>(value_.detach(), bdim_, level_);
  copy->set_version_counter(std::move(version_counter));
  return copy;
}

void BatchedTensorImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) {
  TORCH_CHECK(
      impl->key_set().has(c10::DispatchKey::FuncTorchBatched),
      "vmap: cannot set the data of a tensor that stands for a sample to that of a tensor that does not");
  const auto& other = static_cast<const BatchedTensorImpl&>(*impl);
  TORCH_CHECK(other.level() == level(), "vmap: cannot set the data of a tensor to that of one at another level");
  set_value(other.value_, other.bdim_);
}

void BatchedTensorImpl::release_resources() {
  TensorImpl::release_resources();
  value_.reset();
}

const char* BatchedTensorImpl::tensorimpl_type_name() const {
  return "BatchedTensorImpl";
}

Tensor makeBatched(const Tensor& value, int64_t bdim, VmapLevelPtr level) {
  TORCH_CHECK(
      value.layout() == kStrided && !value.is_nested() && !value.is_quantized(),
      "vmap: only strided tensors can be batched, but got one with layout ", value.layout());
  TORCH_CHECK(!value.has_names(), "vmap: tensors with named dimensions cannot be batched; take the names away first");
  const int64_t dim = c10::maybe_wrap_dim(bdim, value.dim(), /*wrap_scalar=*/false);
  return detail::make_tensor<BatchedTensorImpl>(value, dim, std::move(level));
}

Tensor makeBatched(const Tensor& value, int64_t bdim, int64_t level) {
  VmapLevelPtr found = find_vmap_level(level);
  TORCH_CHECK(found, "vmap: there is no active vmap with level ", level, " on this thread");
  return makeBatched(value, bdim, std::move(found));
}

std::tuple<Tensor, std::optional<int64_t>> unwrapTensorAtLevel(const Tensor& tensor, int64_t level) {
  const BatchedTensorImpl* batched = maybeGetBatchedImpl(tensor);
  if (batched == nullptr || batched->level() != level) {
    return {tensor, std::nullopt};
  }
  return {batched->value(), batched->bdim()};
}

void check_not_escaped(const BatchedTensorImpl& batched, const char* used_by) {
  TORCH_CHECK(
      !batched.is_escaped(), used_by,
      ": your tensor may have escaped from inside a function being vmapped: it stands for one sample of a vmap (level ",
      batched.level(), ") that has ended. Return such tensors from the function, and use what vmap returns");
}

Tensor value_below_all_levels(const Tensor& tensor) {
  Tensor value = tensor;
  while (const BatchedTensorImpl* batched = maybeGetBatchedImpl(value)) {
    value = Tensor(batched->value());
  }
  return value;
}

} // namespace at::functorch
