// Elements whose dtype is known at run time alone.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>
#include <csrc/compat/c10/util/Load.h>

namespace c10 {

/// The number of dtype `src_type` at `ptr`, as dest_t. Quantized dtypes are refused.
template <typename dest_t>
C10_HOST_DEVICE inline dest_t fetch_and_cast(ScalarType src_type, const void* ptr) {
  switch (src_type) {
#define C10_FETCH_AND_CAST(type, name) \
  case ScalarType::name:               \
    return c10::convert<dest_t>(c10::load<type>(ptr));
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(C10_FETCH_AND_CAST)
    C10_FETCH_AND_CAST(uint16_t, UInt16)
    C10_FETCH_AND_CAST(uint32_t, UInt32)
    C10_FETCH_AND_CAST(uint64_t, UInt64)
#undef C10_FETCH_AND_CAST
    default:
      break;
  }
#ifndef __CUDA_ARCH__
  TORCH_CHECK(false, "fetch_and_cast: dtype ", src_type, " is not supported");
#endif
  return dest_t(0);
}

/// Writes `value` to `ptr` as a number of dtype `dest_type`.
template <typename src_t>
C10_HOST_DEVICE inline void cast_and_store(ScalarType dest_type, void* ptr, src_t value) {
  switch (dest_type) {
#define C10_CAST_AND_STORE(type, name)                    \
  case ScalarType::name:                                  \
    *static_cast<type*>(ptr) = c10::convert<type>(value); \
    return;
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(C10_CAST_AND_STORE)
    C10_CAST_AND_STORE(uint16_t, UInt16)
    C10_CAST_AND_STORE(uint32_t, UInt32)
    C10_CAST_AND_STORE(uint64_t, UInt64)
#undef C10_CAST_AND_STORE
    default:
      break;
  }
#ifndef __CUDA_ARCH__
  TORCH_CHECK(false, "cast_and_store: dtype ", dest_type, " is not supported");
#endif
}

} // namespace c10
