// Rules that a second recording of PyTorch's calls showed, beside those of the corpus.
#include <catch2/catch.hpp>

#include <ATen/ATen.h>
#include <aten/ops/_scaled_mm.h>
#include <torch/autograd.h>

#include <climits>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

using at::Tensor;

namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
  return "not refused";
}

} // namespace

TEST_CASE("masked_fill, a power of a number, renorm and roll make results by rows", "[layout]") {
  const Tensor x = at::arange(1, 7, at::kDouble).view({3, 2}).t();
  CHECK(x.masked_fill(x.gt(2), 0).is_contiguous());
  CHECK(x.masked_fill(x.gt(2), at::scalar_tensor(0, at::kDouble)).is_contiguous());
  CHECK(at::pow(2, x).is_contiguous());
  CHECK(at::renorm(x, 2, 0, 1).is_contiguous());
  CHECK(x.roll(3, 1).is_contiguous());
  CHECK(x.roll(3, 1).equal(x));
}

TEST_CASE("lift_fresh gives the tensor itself", "[views]") {
  const Tensor x = at::ones({2});
  CHECK(at::lift_fresh(x).is_same(x));
}

TEST_CASE("logspace runs through complex exponents", "[factories]") {
  const c10::complex<double> end(2, 1);
  const Tensor points = at::logspace(0, end, 3, 2.0);
  REQUIRE(points.scalar_type() == at::kComplexFloat);
  const auto last = points[2].item().toComplexDouble();
  CHECK(last.real() == Approx(4 * std::cos(std::log(2.0))));
  CHECK(last.imag() == Approx(4 * std::sin(std::log(2.0))));
}

TEST_CASE("unique_consecutive returns counts along a dimension given from the end", "[sort]") {
  const Tensor x = at::tensor({1, 1, 2});
  CHECK(std::get<2>(at::unique_consecutive(x, false, false, -1)).equal(at::tensor({2, 1})));
  CHECK(std::get<2>(at::unique_consecutive(x, false, false, 0)).numel() == 0);
}

TEST_CASE("a 0-dim complex number has a conjugate transpose", "[views]") {
  const Tensor z = at::scalar_tensor(c10::complex<double>(1, 2), at::kComplexDouble);
  CHECK(z.matrix_H().item().toComplexDouble().imag() == -2);
}

TEST_CASE("operators say what they refuse in the words that programs match on", "[errors]") {
  using Catch::StartsWith;
  const Tensor f = at::ones({2, 2}), d = at::ones({2, 2}, at::kDouble), i = at::zeros({2}, at::kLong);
  const Tensor j = at::zeros({2, 2}, at::kLong);
  CHECK_THAT(refusal([&] { at::addmm(f, f, d); }), StartsWith("self and mat2 must have the same dtype"));
  CHECK_THAT(
      refusal([&] { at::ones({2}).addmm_(f, f); }),
      StartsWith("Bad in-place call: input tensor size [2] and output tensor size [2, 2] should match"));
  CHECK_THAT(
      refusal([&] { f.index_add(0, i, d); }),
      StartsWith("index_add_(): self (Float) and source (Double) must have the same scalar type"));
  CHECK_THAT(
      refusal([&] { f.index_copy(0, i, d); }),
      StartsWith(
          "index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) Double"));
  CHECK_THAT(
      refusal([&] { f.scatter_add(0, j, d); }), StartsWith("scatter(): Expected self.dtype to be equal to src.dtype"));
  CHECK_THAT(
      refusal([&] { at::scalar_tensor(1).roll(1, 0); }),
      StartsWith("Dimension specified as 0 but tensor has no dimensions"));
  CHECK_THAT(
      refusal([&] { at::chain_matmul({at::ones({2})}); }), StartsWith("Tensor dimension is 1, expected 2 instead."));
}

TEST_CASE("index_fill keeps the strides of self, and a resized output lies by rows", "[layout]") {
  const Tensor x = at::zeros({2, 3}).t(), index = at::tensor({int64_t{1}});
  CHECK(x.index_fill(0, index, 2).strides() == x.strides());
  Tensor out = at::empty({0});
  CHECK(at::index_fill_out(out, x, 0, index, 2).is_contiguous());
}

TEST_CASE("outputs that LAPACK fills where they are lie by columns only if they were empty", "[layout]") {
  const Tensor a = at::eye(3), tau = at::ones({3});
  const at::IntArrayRef columns = {1, 3};
  Tensor empty = at::empty({0}), wrong = at::empty({2}), none = at::empty({0, 3, 3});
  CHECK(at::ormqr_out(empty, a, tau, a).strides() == columns);
  CHECK(at::ormqr_out(wrong, a, tau, a).is_contiguous());
  CHECK(at::ormqr_out(none, none.clone(), at::empty({0, 3}), none.clone()).stride(1) == 1);
  Tensor inverse = at::empty({2});
  CHECK(at::cholesky_inverse_out(inverse, a).is_contiguous());
  Tensor x = at::empty({0}), residuals = at::empty({0}), rank = at::empty({2}, at::kLong), values = at::empty({0});
  at::linalg_lstsq_out(x, residuals, rank, values, a, a, std::nullopt, "gelsd");
  CHECK(x.is_contiguous());
}

TEST_CASE("out= of another dtype is taken and refused as recorded", "[errors]") {
  using Catch::StartsWith;
  const Tensor v = at::ones({3}), a = at::eye(3), i = at::zeros({3}, at::kLong);
  Tensor d = at::empty({0}, at::kDouble);
  CHECK_THAT(
      refusal([&] { at::isin_out(d, v, v); }),
      StartsWith("Expected out tensor to have dtype bool, but got double instead"));
  CHECK_THAT(
      refusal([&] { at::take_along_dim_out(d, v, i); }),
      StartsWith("Expected out tensor to have dtype float, but got double instead"));
  CHECK_THAT(
      refusal([&] { at::inner_out(d, v, v); }),
      StartsWith("tensordot: Expected the output tensor to have dtype Float"));
  CHECK_THAT(
      refusal([&] { at::linalg_vecdot_out(d, v, v); }),
      StartsWith("linalg.vecdot: Expected out of dtypeFloat but found Double"));
  CHECK_THAT(
      refusal([&] { at::dot_out(d, v, v); }), StartsWith("result dtype Double does not match input dtype Float"));
  CHECK_THAT(refusal([&] { at::diff_out(d, v, 0); }), StartsWith("expected scalar_type Float but found Double"));
  CHECK_THAT(
      refusal([&] { at::ormqr_out(d, a, v, a); }),
      StartsWith("torch.ormqr: Expected input and result to have the same dtype"));
  CHECK(at::inner_out(d, v, at::scalar_tensor(2)).equal(at::full({3}, 2, at::kDouble)));
  CHECK(at::diff_out(d, v, 1).numel() == 2);
  CHECK(at::linalg_matrix_power_out(d, a, 0).equal(a.to(at::kDouble)));
  CHECK_THAT(
      refusal([&] { at::linalg_matrix_power_out(d, a, 2); }), StartsWith("Expected out tensor to have dtype float"));
}

TEST_CASE("linalg_lu_solve from the right conjugates lazily", "[linalg]") {
  const Tensor a = at::eye(2, at::kComplexDouble) * c10::complex<double>(0, 2),
               b = at::ones({2, 2}, at::kComplexDouble);
  const auto [lu, pivots] = at::linalg_lu_factor(a);
  const Tensor x = at::linalg_lu_solve(lu, pivots, b, /*left=*/false, /*adjoint=*/true);
  CHECK(x.is_conj());
  CHECK(at::allclose(x.matmul(a.mH()), b));
  CHECK_FALSE(at::linalg_lu_solve(lu, pivots, b).is_conj());
}

TEST_CASE("var_mean keeps an infinite mean only where the infinity comes last", "[reduce]") {
  const auto mean = [](const Tensor& x) { return std::get<1>(at::var_mean(x, true)).item().toDouble(); };
  CHECK(std::isinf(mean(at::tensor({1.0, INFINITY}))));
  CHECK(std::isnan(mean(at::tensor({static_cast<double>(INFINITY), 1.0}))));
}

TEST_CASE("addbmm_ resizes a self that is broadcast", "[linalg]") {
  Tensor x = at::ones({1});
  x.addbmm_(at::ones({2, 3, 5}), at::ones({2, 5, 4}));
  CHECK(x.equal(at::full({3, 4}, 11.0f)));
}

TEST_CASE("index_put_ writes repeated positions in the order of the values in memory", "[indexing]") {
  // Both positions of a column lead to the same element; values lie column by column.
  const Tensor rows = at::tensor({0, 0, 1, 1}).view({2, 2}), cols = at::zeros({2, 2}, at::kLong);
  const Tensor values = at::arange(1, 5, at::kDouble).view({2, 2}).t(); // [[1, 3], [2, 4]]
  const Tensor x = at::zeros({2, 1}, at::kDouble);
  CHECK(x.index_put({rows, cols}, values).equal(at::tensor({3.0, 4.0}, at::kDouble).view({2, 1})));
  const Tensor crossed = at::tensor({0, 1, 1, 0}).view({2, 2}); // 0 at [0, 0] and [1, 1], 1 at [0, 1] and [1, 0]
  CHECK(x.index_put({crossed, cols}, values).equal(at::tensor({4.0, 3.0}, at::kDouble).view({2, 1})));
  CHECK(x.index_put({crossed, cols}, values.contiguous()).equal(at::tensor({4.0, 2.0}, at::kDouble).view({2, 1})));
}

TEST_CASE("an index into a dimension without elements is refused unless it takes nothing", "[indexing]") {
  using Catch::StartsWith;
  const Tensor none = at::ones({0, 3}), zero = at::zeros({1}, at::kLong), five = at::full({1}, 5, at::kLong);
  CHECK_THAT(refusal([&] { none.index({zero}); }), StartsWith("index is out of bounds for dimension with size 0"));
  CHECK(none.index({at::zeros({0}, at::kLong)}).numel() == 0);
  CHECK(none.t().index({five}).sizes() == at::IntArrayRef({1, 0}));
  CHECK_THAT(
      refusal([&] { none.index_select(0, zero); }),
      StartsWith("index_select(): self indexing axis dim should be positive"));
  CHECK_THAT(
      refusal([&] { none.index_select(1, five); }),
      StartsWith("INDICES element is out of DATA bounds, id=5 axis_dim=3"));
  CHECK_THROWS_AS(at::ones({0}).index_select(0, zero), c10::IndexError);
}

TEST_CASE("orthogonal polynomials of a degree beyond int64 are 0", "[special]") {
  const Tensor x = at::tensor({0.5, 1.0, -2.0, NAN}, at::kDouble), n = at::full({4}, 1e20, at::kDouble);
  for (const Tensor& value :
       {at::special_chebyshev_polynomial_t(x, n), at::special_hermite_polynomial_h(x, n),
        at::special_laguerre_polynomial_l(x, n), at::special_legendre_polynomial_p(x, n),
        at::special_chebyshev_polynomial_u(x, n * INFINITY)}) {
    CHECK(value.equal(at::zeros({4}, at::kDouble)));
  }
}

TEST_CASE("igamma at an end of its range is decided beside NaN too", "[special]") {
  const Tensor a = at::tensor({NAN, NAN, double(INFINITY), NAN}, at::kDouble);
  const Tensor x = at::tensor({0.0, double(INFINITY), NAN, 1.0}, at::kDouble);
  const Tensor lower = at::igamma(a, x), upper = at::igammac(a, x);
  CHECK(lower.narrow(0, 0, 3).equal(at::tensor({0.0, 1.0, 0.0}, at::kDouble)));
  CHECK(upper.narrow(0, 0, 3).equal(at::tensor({1.0, 0.0, 1.0}, at::kDouble)));
  CHECK(std::isnan(lower[3].item<double>()));
}

TEST_CASE("searchsorted compares in the promoted dtype, and nothing where nothing is sought", "[sort]") {
  const Tensor flags = at::tensor({0, 1}).to(at::kBool);
  CHECK(at::searchsorted(flags, at::tensor({0.5, 2.0})).equal(at::tensor({1, 2})));
  CHECK(at::bucketize(flags, at::tensor({0, 1, 2})).equal(at::tensor({0, 1})));
  CHECK(at::bucketize(at::zeros({0}, at::kComplexFloat), at::ones({1}, at::kComplexFloat)).numel() == 0);
  CHECK_THAT(
      refusal([&] { at::searchsorted(flags, flags); }),
      Catch::StartsWith("\"searchsorted_out_cpu\" not implemented for 'Bool'"));
}

TEST_CASE("products of bool without elements or terms", "[matmul]") {
  const auto of = [](at::IntArrayRef sizes) { return at::zeros(sizes, at::kBool); };
  CHECK(at::mm(of({2, 0}), of({0, 3})).equal(of({2, 3})));
  CHECK(at::bmm(of({2, 2, 0}), of({2, 0, 3})).equal(of({2, 2, 3})));
  CHECK(at::mv(of({2, 0}), of({0})).equal(of({2})));
  CHECK(at::addmm(of({0, 2}), of({0, 3}), of({3, 2})).numel() == 0);
  CHECK_THAT(
      refusal([&] {
        at::mm(of({1, 1}), of({1, 1}));
      }),
      Catch::StartsWith("\"addmm_impl_cpu_\" not implemented for 'Bool'"));
}

TEST_CASE("celu, masked_scatter and pooling refuse in PyTorch's words", "[errors]") {
  using Catch::StartsWith;
  const Tensor f = at::ones({2});
  try {
    at::celu(f, 0);
    FAIL("not refused");
  } catch (const c10::ValueError&) {
    FAIL("a plain error is expected");
  } catch (const c10::Error& e) {
    CHECK_THAT(e.what_without_backtrace(), StartsWith("ZeroDivisionError: alpha cannot be 0 for CELU"));
  }
  CHECK_THAT(
      refusal([&] { at::masked_scatter(f, f.gt(0), f.to(at::kDouble)); }),
      StartsWith("masked_scatter: expected self and source to have same dtypes but gotFloat and Double"));
  CHECK_THAT(
      refusal([&] { at::avg_pool1d(f, 2); }),
      StartsWith("Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self' (while checking "
                 "arguments for avg_pool1d)"));
  CHECK_THAT(
      refusal([&] {
        at::avg_pool1d(at::ones({0, 3}), 2);
      }),
      StartsWith("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[0, 1, 3]"));
  CHECK_THAT(refusal([&] { at::adaptive_max_pool1d(f, 2); }), StartsWith("Expected 2 to 3 dimensions"));
}

TEST_CASE("the nearest element of lines and of volumes by rows goes by the scale", "[upsample]") {
  const Tensor x = at::arange(2, at::kFloat);
  CHECK(at::upsample_nearest1d(x.view({1, 1, 2}), {4}, std::optional<double>(2.3))
            .flatten()
            .equal(at::tensor({0.f, 0.f, 0.f, 1.f})));
  CHECK(at::upsample_nearest1d(x.view({1, 1, 2}), {4}, std::optional<double>())
            .flatten()
            .equal(at::tensor({0.f, 0.f, 1.f, 1.f})));
  CHECK(
      at::upsample_nearest2d(x.view({1, 1, 1, 2}), {1, 4}, {}, 2.3).flatten().equal(at::tensor({0.f, 0.f, 1.f, 1.f})));
  CHECK(at::upsample_nearest3d(x.view({1, 1, 1, 1, 2}), {1, 1, 4}, {}, {}, 2.3)
            .flatten()
            .equal(at::tensor({0.f, 0.f, 0.f, 1.f})));
}

TEST_CASE("gradients that lie by rows", "[strides]") {
  const Tensor image = at::ones({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(at::upsample_bicubic2d_backward(image, {4, 4}, {2, 3, 2, 2}, true).is_contiguous());
  CHECK(at::_upsample_bicubic2d_aa_backward(image, {4, 4}, {2, 3, 2, 2}, true).is_contiguous());
  CHECK(at::upsample_bilinear2d_backward(image, {4, 4}, {2, 3, 2, 2}, true)
            .is_contiguous(at::MemoryFormat::ChannelsLast));
  const Tensor volume = at::ones({2, 3, 4, 4, 2}).contiguous(at::MemoryFormat::ChannelsLast3d);
  CHECK(at::upsample_nearest3d_backward(volume, {4, 4, 2}, {2, 3, 2, 2, 2}).is_contiguous());
  CHECK(at::upsample_trilinear3d_backward(volume, {4, 4, 2}, {2, 3, 2, 2, 2}, true)
            .is_contiguous(at::MemoryFormat::ChannelsLast3d));
  const Tensor x = at::ones({3, 4}).t(), one = at::ones({});
  CHECK(at::mse_loss_backward(one, x, x, 1).is_contiguous());
  CHECK(at::smooth_l1_loss_backward(one, x, x, 1, 1.0).is_contiguous());
  CHECK(at::huber_loss_backward(one, x, x, 1, 1.0).is_contiguous());
}

TEST_CASE("huber_loss has the dtype of its input, whatever that of the target", "[aten]") {
  const at::Tensor x = at::ones({2}), target = at::full({2}, 0.5, at::kDouble);
  CHECK(at::huber_loss(x, target).scalar_type() == at::kFloat);
  CHECK(at::huber_loss(x.to(at::kDouble), x).scalar_type() == at::kDouble);
  CHECK(at::huber_loss(x, target, at::Reduction::None)[0].item<float>() == 0.125f);
}

TEST_CASE("index_fill_ of empty slices takes any index", "[aten]") {
  at::Tensor none = at::ones({0, 3});
  const Tensor index = at::full({1}, 4, at::kLong);
  CHECK(none.index_fill_(1, index, 1).sizes() == at::IntArrayRef({0, 3}));
  CHECK_THROWS_AS(none.index_fill_(0, index, 1), c10::Error);
}

TEST_CASE("batch_norm keeps channels_last and no other order", "[strides]") {
  const Tensor x = at::ones({2, 3, 4, 5}), last = x.contiguous(at::MemoryFormat::ChannelsLast);
  const auto of = [](const Tensor& t) { return at::batch_norm(t, {}, {}, {}, {}, true, 0.1, 1e-5, false); };
  CHECK(of(last).is_contiguous(at::MemoryFormat::ChannelsLast));
  CHECK(of(x.permute({3, 2, 1, 0})).is_contiguous());
  CHECK(of(at::ones({4, 3, 2}).permute({2, 1, 0})).is_contiguous());
}

TEST_CASE("windows of fractional pooling that do not fit", "[errors]") {
  using Catch::StartsWith;
  const Tensor area = at::ones({1, 1, 4, 2}), volume = at::ones({1, 1, 3, 5, 5});
  CHECK_THAT(
      refusal([&] {
        at::fractional_max_pool2d(area, {2, 2}, {2, 2}, at::zeros({1, 1, 2}));
      }),
      StartsWith("fractional_max_pool2d(): pool width 2 too large relative to input width 2"));
  CHECK_THAT(
      refusal([&] {
        at::fractional_max_pool3d(volume, {2, 2, 2}, {2, 2, 2}, at::zeros({1, 1, 3}));
      }),
      StartsWith("fractional_max_pool3d_out(): pool time 2 too large relative to input time 3"));
}

TEST_CASE("empty medians, grids and quantiles", "[empty]") {
  CHECK(at::median(at::empty({0}, at::kChar)).item<int>() == 0);
  CHECK(at::median(at::empty({0}, at::kInt)).item<int>() == INT_MIN);
  CHECK(at::affine_grid_generator(at::ones({0, 2, 3}), {0, 2, 3, 4}, true).sizes() == at::IntArrayRef({0, 3, 4, 2}));
  CHECK(at::affine_grid_generator(at::ones({2, 2, 3}), {2, 1, 0, 4}, true).sizes() == at::IntArrayRef({2, 0, 4, 2}));
  CHECK_THAT(
      refusal([&] { at::quantile(at::empty({0}), 1.5); }),
      Catch::StartsWith("quantile() q must be in the range [0, 1]"));
  CHECK_THAT(
      refusal([&] { at::unique_dim(at::ones({}), 0); }),
      Catch::StartsWith("Dimension specified as 0 but tensor has no dimensions"));
}

TEST_CASE("outputs that cannot hold the result of a solver", "[errors]") {
  using Catch::StartsWith;
  const Tensor A = at::eye(4);
  Tensor wrong = at::empty({0}, at::kBool);
  CHECK_THAT(
      refusal([&] { at::cholesky_solve_out(wrong, A, A); }),
      StartsWith("cholesky_solve: Expected result to be safely castable from Float dtype"));
  CHECK_THAT(
      refusal([&] {
        at::linalg_tensorinv_out(wrong, A.view({2, 2, 2, 2}));
      }),
      StartsWith("tensorinv: Expected result to be safely castable from Float dtype"));
  CHECK_THAT(
      refusal([&] { at::linalg_cond_out(wrong, A); }),
      StartsWith("linalg.cond: Expected result to be safely castable from Float dtype"));
  CHECK_THAT(
      refusal([&] { at::linalg_matrix_rank_out(wrong, A, 0.1); }),
      StartsWith("torch.linalg.matrix_rank: Expected result to be safely castable from Long dtype"));
}

TEST_CASE("outputs that are taken and refused", "[out]") {
  Tensor out = at::empty({2}, at::kDouble);
  at::logical_not_out(out, at::tensor({0, 1}).to(at::kBool));
  CHECK(out.equal(at::tensor({1.0, 0.0})));
  Tensor expanded = at::zeros({1}).expand({3});
  at::amax_out(expanded, at::tensor({1.f, 2.f, 4.f, 3.f}).view({2, 2}), {1});
  CHECK(expanded.equal(at::tensor({2.f, 4.f})));
  Tensor whole = at::ones({2}, at::kLong);
  CHECK_THAT(
      refusal([&] { whole.clamp_(0.5, std::nullopt); }),
      Catch::StartsWith("result type Float can't be cast to the desired output type long"));
}

TEST_CASE("gradients that are refused to noise and buffers", "[errors]") {
  const Tensor x = at::ones({2}), noise = at::ones({2}).requires_grad_();
  CHECK_THAT(refusal([&] { at::rrelu_with_noise(x, noise); }), Catch::Contains("argument 'noise'"));
  CHECK_THAT(refusal([&] { at::log_sigmoid_backward(x, x, noise); }), Catch::Contains("argument 'buffer'"));
}

TEST_CASE("view_copy to bool keeps bytes that are no bool", "[view]") {
  const Tensor bytes = at::tensor({0, 1, 254, 2}).to(at::kByte);
  CHECK(at::view_copy(bytes, at::kBool).view(at::kByte).equal(bytes));
  CHECK(at::view_copy(bytes.view({2, 2}).t(), at::kBool).view(at::kByte).equal(bytes.view({2, 2}).t()));
}

TEST_CASE("products of 8-bit floats", "[matmul]") {
  const auto small = [](const Tensor& t) { return t.to(at::ScalarType::Float8_e4m3fn); };
  const Tensor a = at::arange(6, at::kFloat).view({2, 3}), b = at::arange(12, at::kFloat).view({3, 4});
  const Tensor product = at::mm(a, b), two = at::full({}, 2.0), bias = at::arange(4, at::kFloat);
  CHECK(at::_scaled_mm(small(a), small(b), two, two, bias, {}, at::kFloat).equal(product * 4 + bias));
  const Tensor rows = at::tensor({1.f, 2.f}).view({2, 1}), columns = at::tensor({1.f, 2.f, 4.f, 8.f}).view({1, 4});
  CHECK(at::_scaled_mm(small(a), small(b), rows, columns, {}, {}, at::kFloat).equal(product * rows * columns));
  const Tensor quarter = at::_scaled_mm(small(a), small(b), two, two, {}, at::full({}, 4.0));
  CHECK(quarter.scalar_type() == at::ScalarType::Float8_e4m3fn);
  CHECK(quarter.to(at::kFloat).equal(small(product).to(at::kFloat)));
  CHECK_THAT(
      refusal([&] { at::_scaled_mm(small(a), small(b), rows, two); }),
      Catch::StartsWith("Invalid scaling configuration."));
}

TEST_CASE("expanded targets that PyTorch takes", "[out]") {
  Tensor rows = at::arange(3, at::kFloat).view({3, 1}).expand({3, 4});
  at::threshold_(rows, 1, 7);
  CHECK(rows.equal(at::tensor({7.f, 7.f, 2.f}).view({3, 1}).expand({3, 4})));
  CHECK(rows.conj_physical_().stride(1) == 0);
  CHECK(rows.select(1, 3).equal(at::tensor({7.f, 7.f, 2.f})));
  Tensor complex = at::ones({1}, at::kComplexFloat).expand({2});
  CHECK_THAT(
      refusal([&] { complex.conj_physical_(); }), Catch::Contains("more than one element of the written-to tensor"));
  Tensor marked = at::arange(3, at::kFloat).view({3, 1}).expand({3, 4});
  marked.masked_fill_(at::eye(3, 4).to(at::kBool), 5);
  CHECK(marked.equal(at::full({3, 4}, 5.f)));
}

TEST_CASE("angles of complex numbers lie by rows", "[layout]") {
  const Tensor z = at::complex(at::ones({3, 2, 4}), at::ones({3, 2, 4})).permute({2, 0, 1});
  CHECK(at::angle(z).strides() == at::IntArrayRef({6, 2, 1}));
  CHECK(at::angle(z).allclose(at::full({4, 3, 2}, M_PI / 4)));
  CHECK(at::angle(at::real(z).contiguous()).strides() == at::IntArrayRef({6, 2, 1}));
  CHECK(at::angle(at::ones({3, 2, 4}).permute({2, 0, 1})).strides() == at::IntArrayRef({1, 8, 4}));
}

TEST_CASE("normal refuses negative deviations", "[random]") {
  const Tensor mean = at::zeros({2});
  const auto wanted = Catch::StartsWith("normal expects all elements of std >= 0.0");
  CHECK_THAT(refusal([&] { at::normal(mean, at::tensor({1.f, -1.f})); }), wanted);
  CHECK_THAT(refusal([&] { at::normal(0.0, at::tensor({1.f, -1.f})); }), wanted);
  CHECK_THAT(refusal([&] { at::normal(0.0, at::_neg_view(at::ones({2}, at::kBFloat16))); }), wanted);
  CHECK_THAT(refusal([&] { at::normal(0.0, at::full({1}, NAN)); }), wanted);
  CHECK(at::normal(0.0, at::_neg_view(at::full({2}, -1.f))).sizes() == mean.sizes());
  CHECK(at::normal(mean, at::zeros({2})).equal(mean));
  CHECK(at::normal(0.0, at::empty({0})).numel() == 0);
  CHECK(at::normal(0.0, at::empty({2}, at::kMeta)).is_meta());
}

TEST_CASE("dtypes of integer gradients and losses", "[dtype]") {
  const Tensor folded = at::unfold_backward(at::ones({3}, at::kInt), {}, 0, 3, 1);
  CHECK(folded.scalar_type() == at::kInt);
  const Tensor input = at::arange(1, 5, at::kInt).view({2, 1, 2}), weight = at::arange(1, 5, at::kInt).view({1, 2, 2});
  const auto whole = at::conv_tbc_backward(at::ones({2, 1, 2}, at::kInt), input, weight, at::zeros({2}, at::kInt), 0);
  CHECK(std::get<2>(whole).scalar_type() == at::kInt);
  CHECK(std::get<2>(whole).equal(at::full({2}, 2, at::kInt)));
  const auto times = [](const Tensor& t, float re, float im) { return t * at::Scalar(c10::complex<float>(re, im)); };
  const auto turned = at::conv_tbc_backward(
      times(at::ones({2, 1, 2}), 2, 1), times(input, 1, 2), times(weight, 1, -1), at::zeros({2}, at::kComplexFloat), 0);
  CHECK(std::get<0>(turned).allclose(times(at::tensor({3, 7, 3, 7}).view({2, 1, 2}), 3, -1)));
  CHECK(std::get<1>(turned).allclose(times(at::tensor({4, 4, 6, 6}).view({1, 2, 2}), 0, 5)));
  const Tensor scores = at::tensor({1, 2, 0, 3}).to(at::kInt), signs = at::tensor({1, -1, -1, 2});
  CHECK(at::hinge_embedding_loss(scores, signs, 1.5, at::Reduction::None).equal(at::tensor({1, 0, 1, 3}).to(at::kInt)));
  CHECK(at::hinge_embedding_loss(scores, signs, 1.5, at::Reduction::Sum).scalar_type() == at::kLong);
  CHECK_THAT(
      refusal([&] { at::hinge_embedding_loss(scores, signs); }), Catch::Contains("could not infer output dtype"));
}

TEST_CASE("half in distances by a product and in histograms of given bins", "[dtype]") {
  const Tensor a = at::tensor({1.f, 2.f, 3.f, 2.f, 4.f, 6.f}).view({2, 3}).to(at::kHalf);
  CHECK(at::cdist(a, a, 2, 1).scalar_type() == at::kHalf);
  CHECK(
      at::cdist(a, a, 2, 1).to(at::kFloat).allclose(at::tensor({0.f, 3.7417f, 3.7417f, 0.f}).view({2, 2}), 1e-2, 1e-2));
  CHECK_THAT(refusal([&] { at::cdist(a, a, 2, 2); }), Catch::Contains("\"cdist\" not implemented for 'Half'"));
  CHECK_THAT(refusal([&] { at::cdist(a, a, 1, 1); }), Catch::Contains("\"cdist\" not implemented for 'Half'"));
  const Tensor edges = at::tensor({0.f, 2.f, 9.f}).to(at::kHalf);
  CHECK(std::get<0>(at::histogram(a, edges)).equal(at::tensor({1.f, 5.f}).to(at::kHalf)));
  CHECK(std::get<0>(at::histogram(at::ones({5000}, at::kHalf), edges)).equal(at::tensor({5000.f, 0.f}).to(at::kHalf)));
  CHECK_THAT(
      refusal([&] { at::histogram(a.to(at::kInt), edges.to(at::kInt)); }),
      Catch::Contains("not implemented for 'Int'"));
}

TEST_CASE("derivatives of Bessel functions next to zero are their limits there", "[special]") {
  for (const double x : {0.0, 1e-45, -1e-40, 1e-9}) {
    const Tensor at_x = at::full({1}, x, at::kFloat).requires_grad_();
    const Tensor first = torch::autograd::grad({at::i0(at_x)}, {at_x}, {}, std::nullopt, /*create_graph=*/true)[0];
    CHECK(torch::autograd::grad({first}, {at_x})[0].item<float>() == 0.5f); // of i1
    CHECK(torch::autograd::grad({at::special_i1e(at_x)}, {at_x})[0].item<float>() == 0.5f);
  }
}

TEST_CASE("a distance that counts differences knows no number and no difference of infinities", "[distance]") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor a = at::tensor({1., NAN, 1., inf}).view({2, 2}), b = at::tensor({1., 2., 1., inf}).view({2, 2});
  const Tensor counts = at::cdist(a, b, 0);
  CHECK(counts.isnan().equal(at::tensor({true, true, false, true}).view({2, 2})));
  CHECK(counts[1][0].item<double>() == 1);
}

TEST_CASE("embedding_bag takes indices and offsets of two dtypes", "[embedding_bag]") {
  const Tensor table = at::arange(8, at::kFloat).view({4, 2}).requires_grad_();
  const Tensor indices = at::tensor({3, 0, 1}, at::kLong), offsets = at::tensor({0, 2}, at::kByte);
  const Tensor sums = std::get<0>(at::embedding_bag(table, indices, offsets));
  CHECK(sums.equal(at::tensor({6.f, 8.f, 2.f, 3.f}).view({2, 2})));
  CHECK(torch::autograd::grad({sums.sum()}, {table})[0].equal(
      at::tensor({1.f, 1.f, 1.f, 1.f, 0.f, 0.f, 1.f, 1.f}).view({4, 2})));
  CHECK(std::get<0>(at::embedding_bag(table, indices.to(at::kShort), offsets.to(at::kLong))).equal(sums));
  CHECK_THAT(
      refusal([&] { at::embedding_bag(table, indices.to(at::kShort), offsets.to(at::kShort)); }),
      Catch::Contains("to have one of the following scalar types: Long, Int"));
}

TEST_CASE("arguments of another dtype than PyTorch takes are refused", "[dtype]") {
  const Tensor x = at::ones({3});
  CHECK_THAT(
      refusal([&] { x.index_fill(0, at::tensor({1}, at::kInt), 2); }),
      Catch::Contains("index_fill_(): Expected dtype int64 for index."));
  CHECK_THAT(
      refusal([&] { at::gradient(x.to(at::kByte)); }), Catch::Contains("torch.gradient does not support uint8 input."));
  CHECK_THAT(
      refusal([&] {
        at::addr(at::ones({3, 3}), x, x, true);
      }),
      Catch::Contains("Boolean beta only supported for Boolean results."));
  CHECK_THAT(
      refusal([&] {
        at::addr(at::ones({3, 3}), x, x, 1, false);
      }),
      Catch::Contains("Boolean alpha only supported for Boolean results."));
  CHECK_THROWS_AS(at::cumulative_trapezoid(at::ones({})), c10::IndexError);
}
