#include <c10/core/SymIntArrayRef.h>

#include <c10/util/Exception.h>

namespace c10 {

at::IntArrayRef asIntArrayRefSlow(c10::SymIntArrayRef ar, const char* file, int64_t line) {
  for (const SymInt& value : ar) {
    TORCH_CHECK(
        !value.is_heap_allocated(), file, ":", line, ": SymIntArrayRef expected to contain only concrete integers");
  }
  return asIntArrayRefUnchecked(ar);
}

DimVector asIntArrayRefSlowAlloc(c10::SymIntArrayRef ar, const char* file, int64_t line) {
  DimVector values(ar.size());
  for (size_t i = 0; i < ar.size(); ++i) {
    values[i] = ar[i].guard_int(file, line);
  }
  return values;
}

SymIntArrayRef fromIntArrayRefSlow(IntArrayRef array_ref) {
  for (const int64_t value : array_ref) {
    TORCH_CHECK(
        SymInt::check_range(value), "IntArrayRef contains an int that cannot be represented as a SymInt: ", value);
  }
  return fromIntArrayRefUnchecked(array_ref);
}

} // namespace c10
