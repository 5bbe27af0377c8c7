#include <catch2/catch.hpp>

#include <ATen/ATen.h>

#include <functional>
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
  CHECK_THROWS_AS(at::linalg_inv_out(out, at::zeros({3, 3})), c10::Error);
  CHECK(is_untouched(out));
  Tensor pivots = filled_with_fours(at::kInt);
  CHECK_THROWS_AS(at::linalg_lu_factor_out(out, pivots, at::zeros({3, 3})), c10::Error);
  CHECK(is_untouched(out));
  CHECK(is_untouched(pivots));
  Tensor meta = at::empty({2}, at::kMeta);
  CHECK_THROWS_AS(at::log_sigmoid_forward_out(out, meta, at::ones({3})), c10::Error);
  CHECK(is_untouched(out));
  out.requires_grad_();
  CHECK_THROWS_AS(at::nanquantile_out(out, matrix, 0.5), c10::Error);
  CHECK(is_untouched(out.detach()));

  Tensor bytes = filled_with_fours(at::kByte);
  CHECK_THROWS_AS(at::full_out(bytes, {3}, 1000), std::runtime_error);
  CHECK(is_untouched(bytes));
  CHECK_THROWS_AS(at::rand_out(bytes, {3}), c10::Error);
  CHECK(is_untouched(bytes));
  CHECK_THROWS_AS(at::logspace_out(bytes, 0, at::Scalar(c10::complex<double>(0, 1)), 3), std::runtime_error);
  CHECK(is_untouched(bytes));
}

TEST_CASE("a refused call leaves an output of its sizes alone", "[outputs]") {
  const Tensor x = at::ones({2}), index = at::zeros({2}, at::kLong);
  Tensor out = filled_with_fours(at::kFloat);
  CHECK_THROWS_AS(at::scatter_out(out, x, 0, index, 1e300), std::runtime_error);
  CHECK(is_untouched(out));
  CHECK_THROWS_AS(at::index_fill_out(out, x, 0, index, 1e300), std::runtime_error);
  CHECK(is_untouched(out));
  CHECK_THROWS_AS(at::index_add_out(out, x, 0, index, x, 1e300), std::runtime_error);
  CHECK(is_untouched(out));

  // Elements of one output lie in one place; those before it are fine.
  const Tensor matrix = at::ones({2, 2}), seen_twice = at::ones({2}).expand({2, 2});
  Tensor U = filled_with_fours(at::kFloat), S = filled_with_fours(at::kFloat), V = seen_twice;
  CHECK_THROWS_AS(at::svd_out(U, S, V, matrix), c10::Error);
  CHECK(is_untouched(U));
  CHECK(is_untouched(S));
  CHECK_THROWS_AS(at::_foreach_neg_out({U, seen_twice}, {x, matrix}), c10::Error);
  CHECK(is_untouched(U));
}

TEST_CASE("a step that is refused leaves gradients and states alone", "[outputs]") {
  const Tensor p = filled_with_fours(at::kFloat), g = filled_with_fours(at::kFloat), m = filled_with_fours(at::kFloat);
  const Tensor scale = at::full({}, 2.f), step = at::ones({});
  const auto sgd = [&](at::TensorList self, at::TensorList grads, at::TensorList buffers, const Tensor& grad_scale) {
    at::_fused_sgd_(self, grads, buffers, 0, 0.9, 0.1, 0, false, false, false, grad_scale);
  };
  CHECK_THROWS_AS(sgd({p}, {g, g}, {m}, scale), c10::Error);
  CHECK(is_untouched(g));
  CHECK_THROWS_AS(sgd({p}, {g}, {at::ones({3})}, scale), c10::Error);
  CHECK(is_untouched(g));
  CHECK_THROWS_AS(sgd({p, p}, {g, at::ones({1}).expand({2})}, {m, m}, scale), c10::Error);
  CHECK(is_untouched(g));
  CHECK_THROWS_AS(sgd({p, at::ones({1}).expand({2})}, {g, g}, {m, m}, Tensor()), c10::Error);
  CHECK(is_untouched(p));
  CHECK_THROWS_AS(
      at::_fused_adam_({p}, {g}, {m}, {m}, {}, {step, step}, 0.1, 0.9, 0.9, 0, 0, false, false, scale), c10::Error);
  CHECK(is_untouched(g));
  sgd({p}, {g}, {m}, scale);
  CHECK(g.equal(at::full({2}, 2.f)));
  CHECK(at::allclose(m, at::full({2}, 5.6f)));
  CHECK(at::allclose(p, at::full({2}, 3.44f)));
}

TEST_CASE("an output that is read negated or conjugated gets other sizes", "[outputs]") {
  Tensor out = at::_neg_view(at::zeros({5}));
  at::add_out(out, at::ones({3}), 1);
  CHECK(out.equal(at::full({3}, 2.f)));
  Tensor U = at::_neg_view(at::zeros({1})), S = at::zeros({2}), Vh = at::_neg_view(at::zeros({3, 3}));
  at::linalg_svd_out(U, S, Vh, at::eye(2));
  CHECK(U.matmul(at::diag(S)).matmul(Vh).equal(at::eye(2)));
  Tensor conjugated = at::zeros({2}, at::kComplexFloat).conj();
  at::mul_out(conjugated, at::full({4}, c10::complex<float>(1, 2)), 2);
  CHECK(conjugated.equal(at::full({4}, c10::complex<float>(2, 4))));
}

TEST_CASE("a refused call over lists leaves all of them alone", "[outputs]") {
  const Tensor numbers = filled_with_fours(at::kFloat), counts = filled_with_fours(at::kLong);
  CHECK_THROWS_AS(at::_foreach_add_({numbers, counts}, 0.5), c10::Error);
  CHECK(is_untouched(numbers));
  CHECK(is_untouched(counts));
  CHECK_THROWS_AS(at::_foreach_add_({numbers, numbers, counts}, 0.5), c10::Error);
  CHECK(is_untouched(numbers));
  CHECK_THROWS_AS(at::_foreach_frac_({numbers, Tensor()}), c10::Error);
  CHECK(is_untouched(numbers));
  const Tensor sparse = at::full({2, 2}, 4.f).to_sparse_csr(),
               unsorted = at::sparse_coo_tensor(at::zeros({1, 2}, at::kLong), at::ones({2}), {2});
  CHECK_THROWS_AS(at::_foreach_sqrt_({sparse, unsorted}), c10::Error);
  CHECK(sparse.values().equal(at::full({4}, 4.f)));
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

TEST_CASE("the operand whose strides a result takes is PyTorch's", "[outputs]") {
  const Tensor permuted = at::ones({2, 3, 4}).permute({2, 0, 1}), dense = at::ones({4, 2, 3});
  const std::vector<int64_t> strides = {6, 3, 1};
  CHECK(at::rsub(permuted, dense).strides() == at::IntArrayRef(strides));
  CHECK(at::rsub(dense, permuted).strides() == permuted.strides());
  CHECK(at::leaky_relu_backward(permuted, dense, 0.1, false).strides() == at::IntArrayRef(strides));
  CHECK(at::threshold_backward(dense, permuted, 0.5).strides() == permuted.strides());
  CHECK(at::bernoulli(permuted).strides() == at::IntArrayRef(strides));
  CHECK(at::bernoulli(permuted, 0.5).strides() == at::IntArrayRef(strides));
  CHECK(at::rrelu(permuted).strides() == at::IntArrayRef(strides));
  CHECK(at::_dirichlet_grad(permuted, permuted, permuted).strides() == at::IntArrayRef(strides));
}

TEST_CASE("strides that say nothing are PyTorch's", "[outputs]") {
  const auto of = [](at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype = at::kFloat) {
    return at::ones({100}, dtype).as_strided(sizes, strides);
  };
  const auto strides = [](const Tensor& result) { return result.strides().vec(); };
  using Strides = std::vector<int64_t>;
  const Tensor column = of({2, 1, 4, 1}, {4, 7, 1, 3}), empty = of({0, 3}, {1, 9});
  // Beside a number all dimensions are put in order by their strides; alone a tensor that is contiguous gives one that
  // is.
  CHECK(strides(at::add(column, 2)) == Strides{4, 8, 1, 4});
  CHECK(strides(at::mul(column, at::scalar_tensor(2))) == Strides{4, 8, 1, 4});
  CHECK(strides(at::addcmul(column, at::ones({}), at::ones({}))) == Strides{4, 8, 1, 4});
  CHECK(strides(at::add(of({0, 3}, {3, 1}), 2)) == Strides{3, 1});
  CHECK(strides(at::div(of({2, 1, 4, 5}, {20, 1, 5, 1}, at::kBool), 2)) == Strides{20, 1, 5, 1});
  for (const Tensor& alone : {at::sin(column), at::clamp_min(column, 2), at::clamp(column, 0, 2), at::pow(column, 2)}) {
    CHECK(strides(alone) == Strides{4, 4, 1, 1});
  }
  CHECK(strides(at::clamp_max(of({2, 1, 4, 1}, {1, 9, 2, 5}), 2)) == Strides{1, 9, 2, 5});
  // As those of empty_like.
  const Tensor complex_empty = of({0, 3}, {1, 9}, at::kComplexFloat), long_empty = of({0, 3}, {1, 9}, at::kLong);
  for (const Tensor& like :
       {at::deg2rad(empty), at::rad2deg(empty), at::hardtanh(empty), at::relu6(empty), at::nan_to_num(empty),
        at::abs(complex_empty), at::isfinite(long_empty)}) {
    CHECK(strides(like) == Strides{1, 9});
  }
  CHECK(strides(at::hardtanh(column)) == Strides{4, 7, 1, 3});
  CHECK(strides(at::abs(empty)) == Strides{3, 1});
  CHECK(strides(at::isfinite(empty)) == Strides{3, 1});
  CHECK(strides(at::ones({}).expand({1, 1})) == Strides{0, 0});
  CHECK(strides(at::ones({3}).expand({1, 3})) == Strides{3, 1});
}

TEST_CASE("an output of another shape lies by rows where PyTorch copies into it", "[outputs]") {
  const Tensor x = at::arange(6.f).sub(2).view({2, 3}).t();
  const auto by_rows = [&](const Tensor& want, const std::function<Tensor&(Tensor&)>& write) {
    Tensor out = at::empty({0}, want.options());
    write(out);
    CHECK(out.is_contiguous());
    CHECK(out.equal(want));
  };
  by_rows(at::relu(x), [&](Tensor& out) -> Tensor& { return at::relu_out(out, x); });
  by_rows(at::isnan(x), [&](Tensor& out) -> Tensor& { return at::isnan_out(out, x); });
  by_rows(at::isinf(x), [&](Tensor& out) -> Tensor& { return at::isinf_out(out, x); });
  by_rows(at::add(x, 2), [&](Tensor& out) -> Tensor& { return at::add_out(out, x, 2, 1); });
  by_rows(at::rsub(x, x, 2), [&](Tensor& out) -> Tensor& { return at::rsub_out(out, x, x, 2); });
  by_rows(at::bitwise_and(3, x.to(at::kLong)), [&](Tensor& out) -> Tensor& {
    return at::bitwise_and_out(out, 3, x.to(at::kLong));
  });
  Tensor columns = at::empty({0});
  at::neg_out(columns, x);
  CHECK(columns.strides() == x.strides());
}

TEST_CASE("threshold writes to any dtype that its result can be cast to", "[outputs]") {
  const Tensor x = at::arange(4.f);
  Tensor doubles = at::empty({4}, at::kDouble), longs = at::empty({4}, at::kLong);
  CHECK(at::threshold_out(doubles, x, 1.5, -1).equal(at::threshold(x, 1.5, -1).to(at::kDouble)));
  CHECK_THROWS_WITH(at::threshold_out(longs, x, 1.5, -1), Catch::Contains("result type Float can't be cast"));
}

TEST_CASE("a fraction below 0 has no place in an unsigned dtype", "[outputs]") {
  const Tensor bytes = at::ones({2}, at::kByte), mask = at::ones({2}, at::kBool), index = at::zeros({1}, at::kLong);
  const auto refused = Catch::Contains("value cannot be converted to type uint8_t without overflow");
  CHECK_THROWS_WITH(bytes.masked_fill(mask, -0.5), refused);
  CHECK_THROWS_WITH(bytes.index_fill(0, index, -0.5), refused);
  CHECK_THROWS_WITH(bytes.scatter(0, index, -0.5), refused);
  CHECK(bytes.masked_fill(mask, -1).eq(255).all().item<bool>());
}

TEST_CASE("of zeros with different signs the first one stays", "[outputs]") {
  const int64_t size = GENERATE(1, 33);
  const Tensor minus = at::full({size}, -0.0), plus = at::zeros({size});
  for (const Tensor& kept :
       {minus.clamp(0, 1), minus.clamp_min(0), minus.clamp_max(0), at::maximum(minus, plus),
        at::minimum(minus, plus)}) {
    CHECK(kept.signbit().all().item<bool>());
  }
  for (const Tensor& kept :
       {plus.clamp(-0.0, 1), plus.clamp_min(-0.0), plus.clamp_max(-0.0), at::maximum(plus, minus),
        at::minimum(plus, minus)}) {
    CHECK_FALSE(kept.signbit().any().item<bool>());
  }
}

TEST_CASE("normal_out repeats the means over its output", "[outputs]") {
  const Tensor means = at::arange(3.f);
  Tensor out = at::empty({2, 3}), other = at::empty({4});
  CHECK(at::normal_out(out, means, 0, std::nullopt).equal(means.expand({2, 3})));
  CHECK_THROWS_WITH(at::normal_out(other, means, 0, std::nullopt), Catch::Contains("must match the size of tensor b"));
}

TEST_CASE("a truth about bytes is written as bool too", "[outputs]") {
  const Tensor bytes = at::tensor({1, 0}, at::kByte);
  Tensor truth = at::empty({0}, at::kBool);
  CHECK(at::any_out(truth, bytes).item<bool>());
  CHECK(truth.scalar_type() == at::kBool);
  CHECK_FALSE(at::all_out(truth, bytes, 0).item<bool>());
  Tensor number = at::empty({0}, at::kByte);
  CHECK(at::any_out(number, bytes.to(at::kFloat), at::IntArrayRef({0})).item<uint8_t>() == 1);
}

TEST_CASE("counts of repeats are of any integer dtype", "[outputs]") {
  const at::ScalarType dtype = GENERATE(at::kByte, at::kChar, at::kShort, at::kInt, at::kLong);
  const Tensor repeated = at::repeat_interleave(at::tensor({1, 2}, dtype));
  CHECK(repeated.scalar_type() == dtype);
  CHECK(repeated.equal(at::tensor({0, 1, 1}, dtype)));
}

TEST_CASE("an output that is a copy of the result takes no other dtype", "[outputs]") {
  const Tensor x = at::ones({2, 3});
  Tensor doubles = at::zeros({2, 3}, at::kDouble), number = at::zeros({}, at::kDouble);
  const auto refused = Catch::StartsWith("Expected out tensor to have dtype float, but got double instead");
  CHECK_THROWS_WITH(at::add_out(doubles, x, 2), refused);
  CHECK_THROWS_WITH(at::flip_out(doubles, x, {0}), refused);
  CHECK_THROWS_WITH(at::clone_out(doubles, x), refused);
  CHECK_THROWS_WITH(at::norm_out(number, x), refused);
  CHECK_THROWS_WITH(
      at::isnan_out(doubles, x), Catch::StartsWith("Expected out tensor to have dtype bool, but got double"));
  CHECK_THROWS_WITH(at::_foreach_neg_out({doubles}, {x}), refused);
  CHECK(doubles.eq(0).all().item<bool>());
  CHECK(at::max_out(number, x).item<double>() == 1); // this one converts
}

TEST_CASE("padding gives an output of the right sizes the strides of a new one", "[outputs]") {
  const Tensor x = at::arange(6, at::kFloat).view({1, 2, 3});
  const Tensor padded = at::replication_pad2d(x, {1, 1, 1, 1});
  Tensor stepped = at::zeros({1, 4, 10}).slice(2, 0, 10, 2), expanded = at::zeros({1}).expand({1, 4, 5});
  for (Tensor out : {stepped, expanded}) {
    at::replication_pad2d_out(out, x, {1, 1, 1, 1});
    CHECK(out.is_contiguous());
    CHECK(out.equal(padded));
  }
  const Tensor image = at::arange(16, at::kFloat).view({1, 1, 4, 4});
  Tensor pooled = at::zeros({1, 1, 2, 4}).slice(3, 0, 4, 2);
  at::adaptive_avg_pool2d_out(pooled, image, {2, 2});
  CHECK(pooled.is_contiguous());
  CHECK(pooled.equal(at::adaptive_avg_pool2d(image, {2, 2})));
}

TEST_CASE("outputs that cannot be written as they are are refused", "[outputs]") {
  Tensor x = at::rand({2, 3});
  const auto shared = Catch::Contains("to a single memory location");
  CHECK_THROWS_WITH(at::cross_out(x, x, at::rand({2, 3})), shared);
  Tensor expanded = at::zeros({1}).expand({2});
  CHECK_THROWS_WITH(at::ones_like_out(expanded, at::zeros({2})), shared);
  Tensor meta = at::empty({}, at::kMeta);
  CHECK_THROWS_WITH(at::sin_out(meta, at::ones({})), Catch::Contains("two devices"));
  Tensor longs = at::zeros({3}, at::kLong), complex = at::zeros({3}, at::kComplexFloat);
  CHECK_THROWS_AS(at::rand_out(longs, {3}), c10::NotImplementedError);
  CHECK_THROWS_AS(at::randn_out(longs, {3}), c10::NotImplementedError);
  CHECK_THROWS_AS(at::heaviside_out(complex, at::ones({3}), at::ones({3})), c10::NotImplementedError);
}

TEST_CASE("ranks of quantiles are not rounded to float", "[sort]") {
  const Tensor x = at::arange(6, at::kFloat); // 0.7f * 5 is below 3.5, 0.1f * 5 above 0.5
  CHECK(at::quantile(x, 0.7, std::nullopt, false, "nearest").item<float>() == 3);
  CHECK(at::quantile(x, 0.1, std::nullopt, false, "nearest").item<float>() == 1);
}

TEST_CASE("the mask of native_dropout has the strides of the input", "[random]") {
  const Tensor x = at::rand({2, 3, 4}).transpose(0, 2);
  CHECK(std::get<1>(at::native_dropout(x, 0.5, false)).strides() == x.strides());
  CHECK(std::get<1>(at::native_dropout(x, 0.5, true)).strides() == x.strides());
}
