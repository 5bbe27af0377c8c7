// Tensors that stand for one sample of a batch.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/vmap_levels.h>
#include <c10/core/TensorImpl.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <tuple>

// Note [Batched tensors]
// vmap calls a function once, with tensors that look like one sample: their sizes, strides and dtype are those of a
// sample, and behind them is a value with all samples, one of whose dimensions (`bdim`) counts them. The key
// FuncTorchBatched lies above those of autograd and forward mode, so an operator is batched first; what it is batched
// to is called with values, whose gradients are recorded as ever. So reverse mode through vmap needs nothing of its
// own, and neither do gradients inside of it.
//
// Levels number the vmaps that are active. A value may itself be batched at lower levels: each call takes care of the
// highest level among its arguments, and calls operators with what is below.

namespace at::functorch {

/// See Note [Batched tensors]. There is no storage: the elements of a sample have no memory of their own.
struct TORCH_API BatchedTensorImpl final : public c10::TensorImpl {
  BatchedTensorImpl(const Tensor& value, int64_t bdim, VmapLevelPtr level);

  const Tensor& value() const {
    return value_;
  }
  /// Which dimension of the value counts samples.
  int64_t bdim() const {
    return bdim_;
  }
  int64_t level() const {
    return level_->number;
  }
  const VmapLevelPtr& vmap_level() const {
    return level_;
  }
  bool is_escaped() const {
    return !level_->is_active;
  }
  /// Stands for another value from now on: for operators that change a tensor's sizes in place.
  void set_value(const Tensor& value, int64_t bdim);
  /// Sizes, and whether gradients are recorded, as the value has them now.
  void refresh_metadata();

  void set_size(int64_t dim, int64_t new_size) override;
  void set_stride(int64_t dim, int64_t new_stride) override;
  void set_storage_offset(int64_t storage_offset) override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const override;
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) override;
  void release_resources() override;
  const char* tensorimpl_type_name() const override;

 private:
  Tensor value_;
  int64_t bdim_;
  VmapLevelPtr level_;
};

inline bool isBatchedTensor(const TensorBase& tensor) {
  return tensor.defined() && tensor.key_set().has(c10::DispatchKey::FuncTorchBatched);
}
inline BatchedTensorImpl* unsafeGetBatchedImpl(const TensorBase& tensor) {
  return static_cast<BatchedTensorImpl*>(tensor.unsafeGetTensorImpl());
}
/// Null for tensors that are not batched.
inline BatchedTensorImpl* maybeGetBatchedImpl(const TensorBase& tensor) {
  return isBatchedTensor(tensor) ? unsafeGetBatchedImpl(tensor) : nullptr;
}

/// The tensor that stands for the samples along dimension `bdim` of `value`. Throws for tensors that are not strided.
TORCH_API Tensor makeBatched(const Tensor& value, int64_t bdim, VmapLevelPtr level);
/// The same in the active vmap of that number.
TORCH_API Tensor makeBatched(const Tensor& value, int64_t bdim, int64_t level);
inline Tensor addBatchDim(const Tensor& value, int64_t bdim, int64_t level) {
  return makeBatched(value, bdim, level);
}

/// Value and batch dimension of a tensor that is batched at `level`; of others the tensor itself, and nothing.
TORCH_API std::tuple<Tensor, std::optional<int64_t>> unwrapTensorAtLevel(const Tensor& tensor, int64_t level);

/// Throws if the vmap that made the tensor has ended.
TORCH_API void check_not_escaped(const BatchedTensorImpl& batched, const char* used_by);

/// The value behind all levels.
TORCH_API Tensor value_below_all_levels(const Tensor& tensor);

} // namespace at::functorch
