// Gradient buckets, and hooks that say how they are reduced.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>

namespace c10d {

/// Tensors from one rank to all, several in one message where they are small.
TORCH_API void broadcast_coalesced(
    const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
    at::TensorList tensors,
    size_t buffer_size,
    int rank = 0);

/// Gradients that are reduced together: one flat tensor and where each parameter's part lies.
class TORCH_API GradBucket {
 public:
  explicit GradBucket(
      size_t index,
      size_t bucket_count,
      at::Tensor tensor,
      std::vector<size_t> offsets,
      std::vector<size_t> lengths,
      std::vector<c10::IntArrayRef> sizes_vec,
      std::vector<at::Tensor> parameters,
      std::optional<at::Tensor> sparse_grad_indices = std::nullopt)
      : index_(index),
        bucket_count_(bucket_count),
        buffer_(std::move(tensor)),
        offsets_(std::move(offsets)),
        lengths_(std::move(lengths)),
        sizes_vec_(std::move(sizes_vec)),
        parameters_(std::move(parameters)),
        sparse_grad_indices_(std::move(sparse_grad_indices)) {}

  /// The place among the buckets; those of the last layers come first.
  size_t getIndex() const {
    return index_;
  }
  const at::Tensor& getBuffer() const {
    return buffer_;
  }
  at::Tensor& getBufferRef() {
    return buffer_;
  }
  void setBuffer(at::Tensor& buffer) {
    buffer_ = buffer;
  }
  /// A view of the buffer for each parameter.
  std::vector<at::Tensor> getGradients() const;
  const std::vector<at::Tensor> getParameters() const {
    return parameters_;
  }
  bool isLast() const {
    return index_ + 1 == bucket_count_;
  }
  std::optional<at::Tensor>& getSparseGradIndices() {
    return sparse_grad_indices_;
  }

 private:
  size_t index_;
  size_t bucket_count_;
  at::Tensor buffer_;
  std::vector<size_t> offsets_;
  std::vector<size_t> lengths_;
  std::vector<c10::IntArrayRef> sizes_vec_;
  std::vector<at::Tensor> parameters_;
  std::optional<at::Tensor> sparse_grad_indices_;
};

/// How a bucket is reduced: a future of the averaged buffer.
class TORCH_API CommHookInterface {
 public:
  virtual ~CommHookInterface() = default;
  virtual c10::intrusive_ptr<c10::ivalue::Future> runHook(GradBucket& bucket) = 0;
  virtual at::Tensor parseHookResult(const c10::IValue& result) = 0;
};

namespace detail {
/// The tensor of a future's value: itself, or the only one of a list.
TORCH_API at::Tensor parseCppCommHookResult(const c10::IValue& result);
} // namespace detail

/// To derive from; `T` is what the hook keeps, usually the group.
template <typename T>
class CppCommHookInterface : public CommHookInterface {
 public:
  explicit CppCommHookInterface(T state) : state_(std::move(state)) {}
  ~CppCommHookInterface() override = default;
  at::Tensor parseHookResult(const c10::IValue& result) override {
    return detail::parseCppCommHookResult(result);
  }

 protected:
  T state_;
};

/// Averages as without a hook.
class TORCH_API AllReduceCommHook : public CppCommHookInterface<c10::intrusive_ptr<ProcessGroup>> {
 public:
  explicit AllReduceCommHook(const c10::intrusive_ptr<ProcessGroup>& state) : CppCommHookInterface(state) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(GradBucket& bucket) override;
};

/// Sends float16, half of the bytes.
class TORCH_API FP16CompressCommHook : public CppCommHookInterface<c10::intrusive_ptr<ProcessGroup>> {
 public:
  explicit FP16CompressCommHook(const c10::intrusive_ptr<ProcessGroup>& state) : CppCommHookInterface(state) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(GradBucket& bucket) override;
};

/// Sends bfloat16.
class TORCH_API BF16CompressCommHook : public CppCommHookInterface<c10::intrusive_ptr<ProcessGroup>> {
 public:
  explicit BF16CompressCommHook(const c10::intrusive_ptr<ProcessGroup>& state) : CppCommHookInterface(state) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(GradBucket& bucket) override;
};

/// Sums of what was divided already.
class TORCH_API _AllReduceBySumCommHook : public CppCommHookInterface<c10::intrusive_ptr<ProcessGroup>> {
 public:
  explicit _AllReduceBySumCommHook(const c10::intrusive_ptr<ProcessGroup>& state) : CppCommHookInterface(state) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(GradBucket& bucket) override;
};

} // namespace c10d
