#pragma once

#include <c10/core/SymInt.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {

namespace detail {
C10_API int64_t maybe_wrap_dim_slow(int64_t dim, int64_t dim_post_expr, bool wrap_scalar);
C10_API SymInt maybe_wrap_dim_slow(const SymInt& dim, const SymInt& dim_post_expr, bool wrap_scalar);
} // namespace detail

/// Makes a negative dimension count from the end: -1 -> dim_post_expr - 1. A tensor without dimensions is taken to
/// have one if `wrap_scalar`. Throws IndexError if out of range.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dim_post_expr, bool wrap_scalar = true) {
  if (C10_LIKELY(-dim_post_expr <= dim && dim < dim_post_expr)) {
    return dim < 0 ? dim + dim_post_expr : dim;
  }
  return detail::maybe_wrap_dim_slow(dim, dim_post_expr, wrap_scalar);
}

inline SymInt maybe_wrap_dim(const SymInt& dim, const SymInt& dim_post_expr, bool wrap_scalar = true) {
  return detail::maybe_wrap_dim_slow(dim, dim_post_expr, wrap_scalar);
}

} // namespace c10
