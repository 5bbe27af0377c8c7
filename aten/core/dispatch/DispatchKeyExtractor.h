#pragma once

#include <aten/core/Generator.h>
#include <aten/core/IListRef.h>
#include <aten/core/Tensor.h>
#include <aten/core/stack.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace c10 {

struct FunctionSchema;

namespace impl {

/// The thread's view of a set of keys: what it includes added, what it excludes removed, masked keys removed.
inline DispatchKeySet computeDispatchKeySet(DispatchKeySet ks, DispatchKeySet key_mask) {
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  return ((ks | local.included_) - local.excluded_) & key_mask;
}

} // namespace impl

namespace detail {

inline DispatchKeySet keys_of(const at::TensorBase& tensor) {
  return tensor.key_set();
}
inline DispatchKeySet keys_of(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? tensor->key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(const at::OptionalTensorRef& tensor) {
  return tensor.has_value() ? (*tensor).key_set() : DispatchKeySet();
}
template <class Tensors>
DispatchKeySet keys_of_all(const Tensors& tensors) {
  DispatchKeySet ks;
  for (const auto& tensor : tensors) {
    ks = ks | keys_of(tensor);
  }
  return ks;
}
inline DispatchKeySet keys_of(at::TensorList tensors) {
  return keys_of_all(tensors);
}
inline DispatchKeySet keys_of(const std::vector<at::Tensor>& tensors) {
  return keys_of_all(tensors);
}
inline DispatchKeySet keys_of(const at::ITensorListRef& tensors) {
  return keys_of_all(tensors);
}
inline DispatchKeySet keys_of(const at::IOptTensorListRef& tensors) {
  return keys_of_all(tensors);
}
inline DispatchKeySet keys_of(ArrayRef<std::optional<at::Tensor>> tensors) {
  return keys_of_all(tensors);
}
/// Whether arguments of this type take part in dispatch: Tensor, Tensor?, Tensor[], Tensor?[], Tensor[]? and so on.
TORCH_API bool may_hold_tensors(const Type& type);
TORCH_API DispatchKeySet keys_of(const List<at::Tensor>& tensors);
TORCH_API DispatchKeySet keys_of(const List<std::optional<at::Tensor>>& tensors);
inline DispatchKeySet keys_of(const at::Generator& generator) {
  return generator.defined() ? generator.key_set() : DispatchKeySet();
}
inline DispatchKeySet keys_of(const std::optional<at::Generator>& generator) {
  return generator.has_value() ? keys_of(*generator) : DispatchKeySet();
}
// Everything else has no say; by reference, so that nothing is converted into one of the types above.
template <class T>
constexpr bool has_keys_v = std::is_base_of_v<at::TensorBase, T> || std::is_same_v<T, std::optional<at::Tensor>> ||
    std::is_same_v<T, at::OptionalTensorRef> || std::is_same_v<T, at::TensorList> ||
    std::is_same_v<T, std::vector<at::Tensor>> || std::is_same_v<T, at::ITensorListRef> ||
    std::is_same_v<T, at::IOptTensorListRef> || std::is_same_v<T, ArrayRef<std::optional<at::Tensor>>> ||
    std::is_same_v<T, List<at::Tensor>> || std::is_same_v<T, List<std::optional<at::Tensor>>> ||
    std::is_same_v<T, at::Generator> || std::is_same_v<T, std::optional<at::Generator>>;
template <class T>
C10_ALWAYS_INLINE void join_keys(DispatchKeySet& ks, const T& arg) {
  if constexpr (has_keys_v<T>) {
    ks = ks | keys_of(arg);
  }
}

/// The keys of all arguments together.
template <class... Args>
C10_ALWAYS_INLINE DispatchKeySet multi_dispatch_key_set(const Args&... args) {
  DispatchKeySet ks;
  (join_keys(ks, args), ...);
  return ks;
}

} // namespace detail

/// Which of a call's keys count for one operator.
class TORCH_API DispatchKeyExtractor final {
 public:
  /// All keys pass until the masks are known; the dispatcher's slow path then applies them.
  DispatchKeyExtractor() = default;
  ~DispatchKeyExtractor();
  DispatchKeyExtractor(const DispatchKeyExtractor&) = delete;
  DispatchKeyExtractor& operator=(const DispatchKeyExtractor&) = delete;

  template <class... Args>
  C10_ALWAYS_INLINE DispatchKeySet getDispatchKeySetUnboxed(const Args&... args) const {
    return threadKeys(detail::multi_dispatch_key_set(args...));
  }
  /// The arguments' keys joined with the thread's, without those that fall through.
  C10_ALWAYS_INLINE DispatchKeySet threadKeys(DispatchKeySet ks) const {
    const impl::LocalDispatchKeySet local = impl::tls_local_dispatch_key_set();
    return applyMasks((ks | local.included_) - local.excluded_);
  }
  /// The arguments are the last values on the stack. Needs registerSchema().
  DispatchKeySet getDispatchKeySetBoxed(const torch::jit::Stack* stack) const;

  void registerSchema(const FunctionSchema& schema);
  bool hasSchema() const {
    return num_args_.load(std::memory_order_acquire) >= 0;
  }

  using Masks = std::array<DispatchKeySet, num_backends>;
  /// The keys without fallthrough kernel, for each backend. Both need the dispatcher's lock.
  void setMasks(const Masks& masks);
  void forgetMasks();
  bool masksKnown() const {
    return masks_known_;
  }
  /// For operators without masks per backend: the same as applyMasks.
  C10_ALWAYS_INLINE DispatchKeySet applySharedMask(DispatchKeySet ks) const {
    return ks & DispatchKeySet::from_raw_repr(mask_.load(std::memory_order_relaxed));
  }
  bool hasMasksPerBackend() const {
    return masks_.load(std::memory_order_acquire) != nullptr;
  }
  C10_ALWAYS_INLINE DispatchKeySet applyMasks(DispatchKeySet ks) const {
    ks = applySharedMask(ks);
    // Rare: a functionality falls through on some backends only.
    const Masks* per_backend = masks_.load(std::memory_order_acquire);
    if (C10_UNLIKELY(per_backend != nullptr)) {
      ks = ks & (*per_backend)[ks.getBackendIndex()];
    }
    return ks;
  }
  std::string dumpState() const;

 private:
  std::atomic<uint64_t> mask_{~uint64_t{0}};
  std::atomic<const Masks*> masks_{nullptr};
  // Bit i: the i-th argument counted from the last may hold tensors.
  uint64_t tensor_args_from_end_ = 0;
  std::atomic<int32_t> num_args_{-1};
  bool masks_known_ = false;
};

} // namespace c10
