#include <catch2/catch.hpp>

#include <ATen/ATen.h>

#include <vector>

using at::Tensor;

namespace {

/// Whether `t` still is what `filled_with_fours` gave.
bool is_untouched(const Tensor& t) {
  return t.sizes() == at::IntArrayRef({2}) && t.eq(4).all().item<bool>() && t.storage().nbytes() == 2 * t.itemsize();
}

Tensor filled_with_fours(at::ScalarType dtype) {
  return at::full({2}, 4, at::TensorOptions(dtype));
}

} // namespace

TEST_CASE("a refused call leaves an output of other sizes alone", "[outputs]") {
  const Tensor matrix = at::ones({2, 3});
  Tensor out = filled_with_fours(at::kFloat);
  CHECK_THROWS_AS(at::gcd_out(out, matrix, matrix), c10::NotImplementedError);
  CHECK(is_untouched(out));
  CHECK_THROWS_AS(at::gather_out(out, matrix, 1, at::full({2, 3}, 3, at::kLong)), c10::Error);
  CHECK(is_untouched(out));
  CHECK_THROWS_AS(at::linalg_cholesky_out(out, -at::eye(3)), c10::Error);
  CHECK(is_untouched(out));
  out.requires_grad_();
  CHECK_THROWS_AS(at::nanquantile_out(out, matrix, 0.5), c10::Error);
  CHECK(is_untouched(out.detach()));

  Tensor bytes = filled_with_fours(at::kByte);
  CHECK_THROWS_AS(at::full_out(bytes, {3}, 1000), c10::Error);
  CHECK(is_untouched(bytes));
  CHECK_THROWS_AS(at::rand_out(bytes, {3}), c10::Error);
  CHECK(is_untouched(bytes));
  CHECK_THROWS_AS(at::logspace_out(bytes, 0, at::Scalar(c10::complex<double>(0, 1)), 3), c10::Error);
  CHECK(is_untouched(bytes));
}

TEST_CASE("a refused call over lists leaves all of them alone", "[outputs]") {
  const Tensor numbers = filled_with_fours(at::kFloat), counts = filled_with_fours(at::kLong);
  CHECK_THROWS_AS(at::_foreach_add_({numbers, counts}, 0.5), c10::Error);
  CHECK(is_untouched(numbers));
  CHECK(is_untouched(counts));
  CHECK_THROWS_AS(at::_foreach_add_({numbers, numbers, counts}, 0.5), c10::Error);
  CHECK(is_untouched(numbers));
  CHECK_THROWS_AS(at::_foreach_add_out({numbers, counts}, {at::ones({3}), at::ones({3})}, 0.5), c10::Error);
  CHECK(is_untouched(numbers));
}

TEST_CASE("an output of other sizes gets the memory it needs", "[outputs]") {
  const Tensor a = at::arange(6.f).view({2, 3});
  Tensor empty = at::empty({0});
  const Tensor same_storage = empty.alias();
  at::add_out(empty, a, a.t().contiguous().t());
  CHECK(empty.equal(2 * a));
  CHECK(empty.is_alias_of(same_storage));
  CHECK(same_storage.storage().nbytes() == 6 * sizeof(float));

  // Large enough: the memory stays where it is, and what lies around is kept.
  Tensor base = at::zeros({10});
  Tensor part = base.narrow(0, 2, 1);
  const void* before = base.data_ptr();
  at::mul_out(part, a, a);
  CHECK(base.data_ptr() == before);
  CHECK(base.equal(at::tensor({0.f, 0.f, 0.f, 1.f, 4.f, 9.f, 16.f, 25.f, 0.f, 0.f})));

  // The input lies in the memory that is written to.
  Tensor first = base.narrow(0, 0, 1);
  at::add_out(first, base.narrow(0, 3, 4), 1);
  CHECK(base.equal(at::tensor({2.f, 5.f, 10.f, 17.f, 4.f, 9.f, 16.f, 25.f, 0.f, 0.f})));

  // Strides are those of the result, also where the dtype differs.
  Tensor wide = at::empty({0}, at::kDouble);
  at::add_out(wide, a.t(), a.t());
  CHECK(wide.equal(2 * a.t().to(at::kDouble)));
  CHECK(wide.strides() == at::IntArrayRef({1, 3}));

  Tensor meta = at::empty({0}, at::kMeta);
  at::add_out(meta, a.to(at::kMeta), a.to(at::kMeta));
  CHECK(meta.sizes() == a.sizes());
}

TEST_CASE("strides without data are those with data where dtypes differ", "[outputs]") {
  const Tensor a = at::ones({2, 5}, at::kBFloat16);
  const Tensor b = at::ones({9}, at::kHalf).as_strided({4, 2, 5}, {1, 1, 1});
  const Tensor without_data = at::empty_strided(b.sizes(), b.strides(), b.options().device(at::kMeta));
  CHECK(at::mul(a, b).strides() == at::mul(a.to(at::kMeta), without_data).strides());
}
