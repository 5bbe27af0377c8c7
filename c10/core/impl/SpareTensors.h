#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/typeid.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

// Note [Spare tensors]
// Results of operators are mostly small and soon dropped. Taking tensor, storage and memory from three free lists and
// giving them back costs more than the arithmetic on them. So a CPU tensor that goes with nobody else referring to its
// storage stays whole, with storage and memory attached, on a list of its thread for the size class of the memory. The
// next result of this class takes it and sets only what differs. Lists are bounded.
//
// The storage of such a tensor remembers whether anybody could have given it other memory, another allocator or what few
// storages have since it was made (StorageImpl::as_made_), so that one look suffices when the tensor goes.
//
// To users it is gone: autograd data, version and keys are dropped at once, and the CPU allocator counts the memory as
// released and cached. What is unusual in any way (a subclass, a resized storage, extra data) is deleted as always.

namespace c10::impl {

struct SpareTensors {
  /// A CPU tensor on a storage of `bytes` bytes: a spare one or a new one. Its sizes are still to be set, unless there are
  /// no bytes; then it has the shape [0].
  C10_API static intrusive_ptr<TensorImpl, UndefinedTensorImpl> make(size_t bytes, caffe2::TypeMeta type);
  /// The same, contiguous, if a spare one of the size class is there; else null, and nothing has happened. Sizes are
  /// not checked: those of too many or negative elements only find none.
  C10_API static TensorImpl* take(IntArrayRef sizes, caffe2::TypeMeta type) noexcept;
  /// The same with the sizes of a tensor whose plain_cpu_data() is there.
  C10_API static TensorImpl* take_like(const TensorImpl& lead, caffe2::TypeMeta type, size_t itemsize) noexcept;

 private:
  friend struct ::c10::TensorImpl;
  /// Takes a tensor made by this class that is uniquely owned and has neither history nor a shared version; false if it has
  /// to be deleted.
  static bool keep(TensorImpl* tensor) noexcept;
  /// Keeps a tensor once history and shared version are dropped, or deletes it.
  static void keep_or_delete(TensorImpl* tensor) noexcept;
  static void become_inference_tensor(TensorImpl* tensor) noexcept;
  static TensorImpl* take_unusual(TensorImpl* tensor) noexcept;
  static TensorImpl* take_class(
      const int64_t* sizes, size_t dim, size_t numel, size_t bytes, caffe2::TypeMeta type) noexcept;
  static void renew(TensorImpl* tensor, size_t bytes, caffe2::TypeMeta type) noexcept;
};

/// Reasons to have no spare tensors, in one word: the number of objects that may want to hear of memory, and a bit for an
/// allocator of CPU tensors that is not the default one.
extern std::atomic<uint32_t> spare_tensors_off;
constexpr uint32_t kOtherCpuAllocator = uint32_t{1} << 31;

} // namespace c10::impl
