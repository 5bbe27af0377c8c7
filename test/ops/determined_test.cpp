// Results that differ in what the arguments leave open are the same after determined(), and wrong ones are not.

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <catch2/catch.hpp>

#include "test/ops/determined.h"
#include "test/support/compare.h"

namespace test {

namespace {

using at::Tensor;

/// Are two lists of results the same to `determined`?
bool same(const std::string& name, Stack args, const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  const BoxedOp op = BoxedOp::find(name).value();
  args = op.complete(std::move(args));
  const std::vector<Tensor> left = determined(name, op, args, a), right = determined(name, op, args, b);
  if (left.size() != right.size()) {
    return false;
  }
  for (size_t i = 0; i < left.size(); ++i) {
    if (!first_difference(left[i], right[i], {1e-5, 1e-5}).empty()) {
      return false;
    }
  }
  return true;
}

std::vector<Tensor> results(const std::string& name, const Stack& args) {
  const BoxedOp op = BoxedOp::find(name).value();
  return op.tensors(op.complete(args));
}

Tensor places(std::initializer_list<int64_t> numbers) {
  return at::tensor(std::vector<int64_t>(numbers), at::kLong);
}

} // namespace

TEST_CASE("any index of an equal element will do", "[ops][determined]") {
  const Tensor x = at::tensor({1.0, 2.0, 1.0, 2.0}), value = at::tensor(1.0);
  CHECK(same("kthvalue", {x, 2}, {value, at::tensor(0)}, {value, at::tensor(2)}));
  CHECK_FALSE(same("kthvalue", {x, 2}, {value, at::tensor(0)}, {value, at::tensor(1)}));
  CHECK_FALSE(same("kthvalue", {x, 2}, {value, at::tensor(0)}, {value + 1, at::tensor(0)}));
  CHECK(same(
      "mode", {x.reshape({2, 2}), 0, true}, {x.narrow(0, 0, 2).reshape({1, 2}), at::zeros({1, 2}, at::kLong)},
      {x.narrow(0, 0, 2).reshape({1, 2}), at::ones({1, 2}, at::kLong)}));
  CHECK(same("median.dim", {value, 0}, {value, at::tensor(0)}, {value, at::tensor(0)}));
  CHECK_THROWS(same("mode", {x}, {value, at::tensor(0)}, {value, at::tensor(4)}));
}

TEST_CASE("topk takes no element twice, and any order where none is asked for", "[ops][determined]") {
  const Tensor x = at::tensor({1.0, 2.0, 1.0, 2.0}), twos = at::tensor({2.0, 2.0}), both = at::tensor({2.0, 1.0});
  CHECK(same("topk", {x, 2}, {twos, places({1, 3})}, {twos, places({3, 1})}));
  CHECK_THROWS(same("topk", {x, 2}, {twos, places({1, 3})}, {twos, places({3, 3})}));
  CHECK_FALSE(same("topk", {x, 2}, {both, places({1, 0})}, {both.flip(0), places({0, 1})}));
  CHECK(same("topk", {x, 2, -1, true, false}, {both, places({1, 0})}, {both.flip(0), places({2, 3})}));
}

TEST_CASE("vectors are free in sign and phase, but not in what they make", "[ops][determined]") {
  const Tensor a = at::arange(12, at::kDouble).reshape({4, 3}).cos(), square = a.narrow(0, 0, 3),
               turn = at::tensor({-1.0, 1.0, -1.0}, at::kDouble);
  const std::vector<Tensor> svd = results("_linalg_svd", {a});
  CHECK(same("_linalg_svd", {a}, svd, {svd[0] * turn, svd[1], svd[2] * turn.unsqueeze(-1)}));
  CHECK_FALSE(same("_linalg_svd", {a}, svd, {svd[0] * turn, svd[1], svd[2]}));
  const std::vector<Tensor> eigh = results("_linalg_eigh", {square.matmul(square.mT())});
  CHECK(same("_linalg_eigh", {square.matmul(square.mT())}, eigh, {eigh[0], eigh[1] * turn}));
  CHECK_FALSE(same("_linalg_eigh", {square.matmul(square.mT())}, eigh, {eigh[0], eigh[1].flip(1)}));
  const std::vector<Tensor> qr = results("linalg_qr", {a});
  CHECK(same("linalg_qr", {a}, qr, {qr[0] * turn, qr[1] * turn.unsqueeze(-1)}));
  CHECK_FALSE(same("linalg_qr", {a}, qr, {qr[0] * turn, qr[1]}));
  const std::vector<Tensor> eig = results("linalg_eig", {square});
  CHECK(same("linalg_eig", {square}, eig, {eig[0].flip(0), eig[1].flip(1) * c10::complex<double>(0, 1)}));
  CHECK_FALSE(same("linalg_eig", {square}, eig, {eig[0].flip(0), eig[1]}));
}

TEST_CASE("factors by other pivots are as good where they make the matrix", "[ops][determined]") {
  const Tensor a = at::tensor({1.0, 2.0, -1.0, 3.0}, at::kDouble).reshape({2, 2});
  const Tensor info = at::zeros({}, at::kInt), first = at::tensor({1, 2}, at::kInt),
               second = at::tensor({2, 2}, at::kInt);
  const Tensor by_first = at::tensor({1.0, 2.0, -1.0, 5.0}, at::kDouble).reshape({2, 2});
  const Tensor by_second = at::tensor({-1.0, 3.0, -1.0, 5.0}, at::kDouble).reshape({2, 2});
  CHECK(same("linalg_lu_factor_ex", {a}, {by_first, first, info}, {by_second, second, info}));
  CHECK_FALSE(same("linalg_lu_factor_ex", {a}, {by_first, first, info}, {by_second, first, info}));
  const std::vector<Tensor> ldl = results("linalg_ldl_factor_ex", {a.matmul(a.mT())});
  CHECK(same("linalg_ldl_factor_ex", {a.matmul(a.mT())}, ldl, ldl));
  CHECK_FALSE(same("linalg_ldl_factor_ex", {a.matmul(a.mT())}, ldl, {ldl[0] + 1, ldl[1], ldl[2]}));
}

} // namespace test
