#pragma once

#include <c10/core/SymInt.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace c10 {

using SymIntArrayRef = ArrayRef<SymInt>;
/// Sizes or strides that may be symbolic.
using SymDimVector = SmallVector<SymInt, kDimVectorStaticSize>;

/// The same memory as plain integers. The caller knows that every element is a plain integer.
inline at::IntArrayRef asIntArrayRefUnchecked(c10::SymIntArrayRef ar) {
  return IntArrayRef(reinterpret_cast<const int64_t*>(ar.data()), ar.size());
}

/// The same memory as plain integers, or nullopt if an element is not plain.
inline std::optional<at::IntArrayRef> asIntArrayRefSlowOpt(c10::SymIntArrayRef ar) {
  for (const SymInt& value : ar) {
    if (value.is_heap_allocated()) {
      return std::nullopt;
    }
  }
  return asIntArrayRefUnchecked(ar);
}

/// The same memory as plain integers; throws, naming the place of the call, if an element is symbolic.
C10_API at::IntArrayRef asIntArrayRefSlow(c10::SymIntArrayRef ar, const char* file, int64_t line);

/// The values as plain integers. Symbolic ones are asked for theirs, see SymInt::guard_int.
C10_API DimVector asIntArrayRefSlowAlloc(c10::SymIntArrayRef ar, const char* file, int64_t line);

/// The same memory as SymInts. Only for integers that are not below SymInt::min_representable_int().
inline SymIntArrayRef fromIntArrayRefUnchecked(IntArrayRef array_ref) {
  return SymIntArrayRef(reinterpret_cast<const SymInt*>(array_ref.data()), array_ref.size());
}

/// As above, for arrays such as sizes that are known to hold no negative number.
inline SymIntArrayRef fromIntArrayRefKnownNonNegative(IntArrayRef array_ref) {
  return fromIntArrayRefUnchecked(array_ref);
}

/// The same memory as SymInts; throws if an integer is too negative to be read as one.
C10_API SymIntArrayRef fromIntArrayRefSlow(IntArrayRef array_ref);

} // namespace c10

#define C10_AS_INTARRAYREF_SLOW(a) c10::asIntArrayRefSlow(a, __FILE__, __LINE__)
#define C10_AS_INTARRAYREF_SLOW_ALLOC(a) c10::asIntArrayRefSlowAlloc(a, __FILE__, __LINE__)
