#pragma once

#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/macros/Macros.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/core/TypeMeta.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Note [Recycled tensors]
// Results of operators are mostly small and soon dropped. Taking tensor, storage and memory from three free lists and
// giving them back costs more than the arithmetic on them. So a CPU tensor that goes with nobody else referring to its
// storage stays whole, with storage and memory attached, on a list of its thread for the size class of the memory. The
// next result of this class takes it and sets only what differs. Lists are bounded.
//
// The storage of such a tensor remembers whether anybody could have given it other memory, another allocator or what
// few storages have since it was made (StorageImpl::as_made_), so that one look suffices when the tensor goes.
//
// To users it is gone: autograd data, version and keys are dropped at once, and the CPU allocator counts the memory as
// released and cached. What is unusual in any way (a subclass, a resized storage, extra data) is deleted as always.

namespace c10::impl {

/// Reasons to have no recycled tensors, in one word: the number of objects that may want to hear of memory, and a bit
/// for an allocator of CPU tensors that is not the default one. A third reason concerns only those who give recycled
/// tensors to users as they are: that fresh memory must have known values.
extern C10_HIDDEN std::atomic<uint32_t> recycled_tensors_off;
constexpr uint32_t kOtherCpuAllocator = uint32_t{1} << 31;
constexpr uint32_t kKnownValues = uint32_t{1} << 30;

/// Up to here there is a size class for each multiple of 64 bytes.
constexpr size_t kRecycledFineMax = 512;

/// Recycled tensors of a size class, of one thread; read by others for statistics.
class RecycledList {
 public:
  static constexpr uint64_t kLimit = 30;

  /// Null if there is none.
  TensorImpl* take() {
    uint64_t now = state_.load(std::memory_order_relaxed);
    if (C10_UNLIKELY((now & kHeldMask) == 0)) {
      return nullptr;
    }
    --now;
    state_.store(now, std::memory_order_relaxed);
    TensorImpl* const tensor = tensors_[now & kHeldMask];
    if (tensor == nullptr) {
      __builtin_unreachable(); // so that callers ask once
    }
    return tensor;
  }
  /// False if there is no room.
  bool put(TensorImpl* tensor) {
    const uint64_t now = state_.load(std::memory_order_relaxed);
    const uint64_t held = now & kHeldMask;
    if (C10_UNLIKELY(held >= limit_)) {
      return false;
    }
    tensors_[held] = tensor;
    state_.store(now + kKeptOne + 1, std::memory_order_relaxed);
    return true;
  }
  void set_limit(uint64_t limit) {
    limit_ = limit;
  }
  /// How many came, and how many went again.
  uint64_t kept() const {
    return state_.load(std::memory_order_relaxed) / kKeptOne;
  }
  uint64_t taken() const {
    const uint64_t now = state_.load(std::memory_order_relaxed);
    return now / kKeptOne - (now & kHeldMask);
  }

 private:
  static constexpr uint64_t kHeldMask = 0xff;
  static constexpr uint64_t kKeptOne = kHeldMask + 1;

  // How many it holds, in the lowest byte, and above that how many ever came.
  std::atomic<uint64_t> state_{0};
  uint64_t limit_ = 0;
  std::array<TensorImpl*, kLimit> tensors_{};
};
static_assert(sizeof(RecycledList) == 256, "the place of a list needs no multiplication");

/// The calling thread's lists, one for each size class. Without lists of its own a thread has some that neither hold
/// tensors nor take any.
extern __thread RecycledList* recycled_lists __attribute__((tls_model("initial-exec")));

struct RecycledTensors {
  /// A CPU tensor on a storage of `bytes` bytes: a spare one or a new one. Its sizes are still to be set, unless there
  /// are no bytes; then it has the shape [0].
  C10_API static intrusive_ptr<TensorImpl, UndefinedTensorImpl> make(size_t bytes, caffe2::TypeMeta type);
  /// The same, contiguous, if a spare one of the size class is there; else null, and nothing has happened. Sizes are
  /// not checked: those of too many or negative elements only find none.
  C10_API static TensorImpl* take(IntArrayRef sizes, caffe2::TypeMeta type) noexcept;
  /// The same with the sizes of a tensor whose plain_cpu_data() is there.
  C10_API static TensorImpl* take_like(const TensorImpl& lead, caffe2::TypeMeta type, size_t itemsize) noexcept;
  /// take() of few elements of one dimension outside of inference mode, for users as it is; `type` is one of a tensor.
  static TensorImpl* take_line(int64_t size, ScalarType type) noexcept;

 private:
  friend struct ::c10::TensorImpl;
  /// Takes a tensor made by this class that is uniquely owned and has neither history, a shared version nor extra data;
  /// false if it has to be deleted.
  static bool keep(TensorImpl* tensor) noexcept;
  /// Keeps a tensor once history and shared version are dropped, or deletes it.
  static void keep_or_delete(TensorImpl* tensor) noexcept;
  static void become_inference_tensor(TensorImpl* tensor) noexcept;
  static TensorImpl* take_unusual(TensorImpl* tensor) noexcept;
  static TensorImpl* take_fine(size_t size, size_t bytes, caffe2::TypeMeta type) noexcept;
  static TensorImpl* take_like_any(const TensorImpl& lead, caffe2::TypeMeta type, size_t bytes) noexcept;
  static TensorImpl* take_class(
      const int64_t* sizes, size_t dim, size_t numel, size_t bytes, caffe2::TypeMeta type) noexcept;
  static void renew(TensorImpl* tensor, size_t bytes, caffe2::TypeMeta type) noexcept;
};

// What differs between a kept tensor and a new contiguous one, but for sizes and strides.
C10_ALWAYS_INLINE void RecycledTensors::renew(TensorImpl* tensor, size_t bytes, caffe2::TypeMeta type) noexcept {
  tensor->storage_.unsafeGetStorageImpl()->unsafe_set_nbytes(bytes);
  tensor->storage_offset_ = 0;
  tensor->data_type_ = type;
  // From a literal, which stands in the code: a struct would be loaded from memory.
  static_assert(
      std::bit_cast<std::array<char, sizeof(ContiguityFlags)>>(ContiguityFlags{
          true, false, false, false, false, true}) == std::array<char, sizeof(ContiguityFlags)>{1, 0, 0, 0, 0, 1});
  std::memcpy(&tensor->flags_, "\1\0\0\0\0\1", sizeof(ContiguityFlags));
}

// One dimension and 1 to kRecycledFineMax bytes; not yet as inference mode wants it.
C10_ALWAYS_INLINE TensorImpl* RecycledTensors::take_fine(size_t size, size_t bytes, caffe2::TypeMeta type) noexcept {
  TensorImpl* const tensor = recycled_lists[(bytes - 1) / 64].take();
  if (C10_UNLIKELY(tensor == nullptr)) {
    return nullptr;
  }
  SizesAndStrides& shape = tensor->sizes_and_strides_;
  shape.resize_in_place(1);
  shape.sizes_data()[0] = static_cast<int64_t>(size);
  shape.strides_data()[0] = 1;
  tensor->numel_ = static_cast<int64_t>(size);
  renew(tensor, bytes, type);
  return tensor;
}

C10_ALWAYS_INLINE TensorImpl* RecycledTensors::take_line(int64_t size, ScalarType type) noexcept {
  // So few that none of any type are too many.
  constexpr size_t kMost = kRecycledFineMax / sizeof(c10::complex<double>);
  if (C10_UNLIKELY(
          static_cast<size_t>(size) - 1 >= kMost || recycled_tensors_off.load(std::memory_order_relaxed) != 0 ||
          InferenceMode::is_enabled())) {
    return nullptr;
  }
  const auto numel = static_cast<size_t>(size);
  // A byte that is never negative: so it is extended once.
  const uint16_t index = static_cast<uint8_t>(type);
  return take_fine(numel, numel * c10::detail::kElementSizes[index], std::bit_cast<caffe2::TypeMeta>(index));
}

} // namespace c10::impl
