#include <aten/core/TensorOperators.h>

#include <aten/ops/add.h>
#include <aten/ops/bitwise_and.h>
#include <aten/ops/bitwise_or.h>
#include <aten/ops/bitwise_xor.h>
#include <aten/ops/div.h>
#include <aten/ops/eq.h>
#include <aten/ops/ge.h>
#include <aten/ops/gt.h>
#include <aten/ops/le.h>
#include <aten/ops/logical_not.h>
#include <aten/ops/lt.h>
#include <aten/ops/mul.h>
#include <aten/ops/ne.h>
#include <aten/ops/reciprocal.h>
#include <aten/ops/remainder.h>
#include <aten/ops/rsub.h>
#include <aten/ops/sub.h>

namespace at {
#define COMMUTING(op, f)                                 \
  Tensor operator op(const Tensor& x, const Tensor& y) { \
    return at::f(x, y);                                  \
  }                                                      \
  Tensor operator op(const Tensor& x, const Scalar& y) { \
    return at::f(x, y);                                  \
  }                                                      \
  Tensor operator op(const Scalar& x, const Tensor& y) { \
    return at::f(y, x);                                  \
  }

COMMUTING(+, add)
COMMUTING(*, mul)
COMMUTING(&, bitwise_and)
COMMUTING(|, bitwise_or)
COMMUTING(^, bitwise_xor)
COMMUTING(==, eq)
COMMUTING(!=, ne)

#undef COMMUTING

#define COMPARISON(op, f, mirrored)                      \
  Tensor operator op(const Tensor& x, const Tensor& y) { \
    return at::f(x, y);                                  \
  }                                                      \
  Tensor operator op(const Tensor& x, const Scalar& y) { \
    return at::f(x, y);                                  \
  }                                                      \
  Tensor operator op(const Scalar& x, const Tensor& y) { \
    return at::mirrored(y, x);                           \
  }

COMPARISON(<, lt, gt)
COMPARISON(<=, le, ge)
COMPARISON(>, gt, lt)
COMPARISON(>=, ge, le)

#undef COMPARISON

Tensor operator-(const Tensor& x, const Tensor& y) {
  return at::sub(x, y);
}
Tensor operator-(const Tensor& x, const Scalar& y) {
  return at::sub(x, y);
}
Tensor operator-(const Scalar& x, const Tensor& y) {
  return at::rsub(y, x);
}
Tensor operator/(const Tensor& x, const Tensor& y) {
  return at::div(x, y);
}
Tensor operator/(const Tensor& x, const Scalar& y) {
  return at::div(x, y);
}
Tensor operator/(const Scalar& x, const Tensor& y) {
  return at::mul(at::reciprocal(y), x);
}
Tensor operator%(const Tensor& x, const Tensor& y) {
  return at::remainder(x, y);
}
Tensor operator%(const Tensor& x, const Scalar& y) {
  return at::remainder(x, y);
}
Tensor operator%(const Scalar& x, const Tensor& y) {
  return at::remainder(x, y);
}
Tensor operator!(const Tensor& x) {
  return at::logical_not(x);
}

} // namespace at
