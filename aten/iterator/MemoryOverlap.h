// Do the elements of a tensor, or of two tensors, share memory?
#pragma once

#include <c10/macros/Macros.h>

namespace c10 {
struct TensorImpl;
}

namespace at {

class TensorBase;

/// Can two elements of one tensor be the same memory? TooHard: only a search could tell.
enum class MemOverlap { No, Yes, TooHard };

/// How the memory of two tensors meets. Full: the same elements in the same order.
enum class MemOverlapStatus { Full, Partial, No, TooHard };

TORCH_API MemOverlap has_internal_overlap(const TensorBase& t);
TORCH_API MemOverlap has_internal_overlap(c10::TensorImpl* t);

/// Throws when elements of a tensor that will be written share memory.
TORCH_API void assert_no_internal_overlap(const TensorBase& t);
TORCH_API void assert_no_internal_overlap(c10::TensorImpl* t);

TORCH_API MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b);
TORCH_API MemOverlapStatus get_overlap_status(const c10::TensorImpl* a, const c10::TensorImpl* b);

/// Throws when `a`, which is written, and `b`, which is read, overlap without being the same elements.
TORCH_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b);
TORCH_API void assert_no_partial_overlap(c10::TensorImpl* a, c10::TensorImpl* b);

/// Throws when `a` and `b` are known to share memory at all.
TORCH_API void assert_no_overlap(const TensorBase& a, const TensorBase& b);
TORCH_API void assert_no_overlap(c10::TensorImpl* a, c10::TensorImpl* b);

} // namespace at
