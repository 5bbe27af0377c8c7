// Operators over lists of tensors: forms, lengths, gradients.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include "test/support/matchers.h"

using at::Tensor;
using test::EqualsTensor;
using test::Says;

namespace {

std::vector<Tensor> pair() {
  return {at::arange(2, at::kFloat), at::arange(3, at::kFloat)};
}

} // namespace

TEST_CASE("foreach operators work element by element in all forms", "[foreach]") {
  const std::vector<Tensor> sum = at::_foreach_add(pair(), pair(), 2);
  CHECK_THAT(sum[0], EqualsTensor({0, 3}));
  CHECK_THAT(sum[1], EqualsTensor({0, 3, 6}));

  const std::vector<Tensor> self = pair();
  at::_foreach_mul_(self, std::vector<at::Scalar>{2, 3});
  CHECK_THAT(self[0], EqualsTensor({0, 2}));
  CHECK_THAT(self[1], EqualsTensor({0, 3, 6}));

  const std::vector<Tensor> outs = {at::empty({0}), at::empty({0})};
  at::_foreach_neg_out(outs, pair());
  CHECK_THAT(outs[1], EqualsTensor({0, -1, -2}));

  const std::vector<Tensor> packed = at::_foreach_addcmul(pair(), pair(), pair(), at::arange(2, at::kFloat));
  CHECK_THAT(packed[0], EqualsTensor({0, 1}));
  CHECK_THAT(packed[1], EqualsTensor({0, 2, 6}));

  at::_foreach_zero_(self);
  CHECK_THAT(self[1], EqualsTensor({0, 0, 0}));
  CHECK_THAT(at::_foreach_norm(pair())[0], EqualsTensor(at::scalar_tensor(1.0)));
}

TEST_CASE("lists of a foreach operator have one length", "[foreach]") {
  std::vector<Tensor> one = {at::ones({2})};
  CHECK_THROWS_MATCHES(
      at::_foreach_add(pair(), one), c10::Error,
      Says("Tensor lists must have the same number of tensors, got 2 and 1"));
  CHECK_THROWS_MATCHES(
      at::_foreach_exp(std::vector<Tensor>{}), c10::Error, Says("Tensor list must have at least one tensor."));
  CHECK_THROWS_MATCHES(
      at::_foreach_add(pair(), std::vector<at::Scalar>{1}), c10::Error,
      Says("Tensor list must have same number of elements as scalar list."));
  CHECK_THROWS_MATCHES(
      at::_foreach_addcmul(pair(), pair(), pair(), at::ones({1})), c10::Error,
      Says("Expected length of scalars to match input of length 2 but got 1 instead."));
  CHECK_THROWS_MATCHES(
      at::_foreach_exp_out(one, pair()), c10::Error, Says("expected an out= argument of size 2, got size 1"));
}

TEST_CASE("foreach operators are differentiable", "[foreach]") {
  std::vector<Tensor> self = pair();
  for (Tensor& t : self) {
    t.set_requires_grad(true);
  }
  const std::vector<Tensor> squares = at::_foreach_mul(self, self);
  (squares[0].sum() + squares[1].sum()).backward();
  CHECK_THAT(self[1].grad(), EqualsTensor({0, 2, 4}));
}
