#include <c10/core/WrapDimMinimal.h>

#include <c10/util/Exception.h>

namespace c10::detail {

namespace {

template <typename T>
T wrap(const T& dim, const T& dim_post_expr, bool wrap_scalar) {
  TORCH_CHECK_INDEX(dim_post_expr >= 0, "Rank cannot be negative but got ", dim_post_expr);
  if (dim_post_expr == 0) {
    TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
    return wrap(dim, T(1), /*wrap_scalar=*/false);
  }
  const T min = dim_post_expr * -1;
  const T max = dim_post_expr - 1;
  TORCH_CHECK_INDEX(
      min <= dim && dim <= max, "Dimension out of range (expected to be in range of [", min, ", ", max, "], but got ",
      dim, ")");
  return dim < 0 ? T(dim + dim_post_expr) : dim;
}

} // namespace

int64_t maybe_wrap_dim_slow(int64_t dim, int64_t dim_post_expr, bool wrap_scalar) {
  return wrap<int64_t>(dim, dim_post_expr, wrap_scalar);
}

SymInt maybe_wrap_dim_slow(const SymInt& dim, const SymInt& dim_post_expr, bool wrap_scalar) {
  return wrap<SymInt>(dim, dim_post_expr, wrap_scalar);
}

} // namespace c10::detail
