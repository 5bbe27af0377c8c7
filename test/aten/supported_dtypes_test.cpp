// Dtypes that operators take beyond those that the operator table tries: what PyTorch takes there, and what it gives.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/accumulate.h>

#include <limits>
#include <tuple>
#include <vector>

#include "test/support/matchers.h"

using at::Tensor;
using test::EqualsTensor;
using test::Says;

namespace {

Tensor whole(const std::vector<int64_t>& values, at::ScalarType dtype) {
  return at::tensor(at::IntArrayRef(values)).to(dtype);
}

constexpr at::ScalarType kNewUnsigned[] = {at::kUInt16, at::kUInt32, at::kUInt64};

} // namespace

TEST_CASE("pairs of halves have norms, variances and products with numbers", "[dtypes]") {
  const Tensor x = at::complex(at::tensor({3.f, 0.f, -1.f}), at::tensor({4.f, 2.f, 1.f}));
  const Tensor half = x.to(at::kComplexHalf);
  const auto close = [](const Tensor& got, const Tensor& want) {
    CHECK(got.scalar_type() == at::kHalf);
    CHECK(at::allclose(got.to(at::kFloat), want, 1e-3));
  };
  close(half.norm(), x.norm());
  for (const double order : {0.0, 1.0, 3.0, std::numeric_limits<double>::infinity()}) {
    close(at::linalg_vector_norm(half, order), at::linalg_vector_norm(x, order));
  }
  close(half.var(), x.var());
  close(half.std(), x.std());
  const auto [var, mean] = at::var_mean(half);
  close(var, x.var());
  CHECK(mean.scalar_type() == at::kComplexHalf);
  CHECK(at::allclose(mean.to(at::kComplexFloat), x.mean(), 1e-3, 1e-3));
  CHECK(at::allclose(at::addcmul(half, half, half, 2).to(at::kComplexFloat), at::addcmul(x, x, x, 2), 1e-3));
}

TEST_CASE("pairs of halves are convolved, forwards and backwards, and dropped", "[dtypes]") {
  const auto numbers = [](at::IntArrayRef sizes) {
    const Tensor t = at::arange(c10::multiply_integers(sizes), at::kFloat).reshape(sizes).fmod(7);
    return at::complex(t, 3 - t);
  };
  const Tensor x = numbers({1, 2, 4, 4}), w = numbers({2, 2, 3, 3}), b = numbers({2});
  const Tensor x2 = x.to(at::kComplexHalf), w2 = w.to(at::kComplexHalf), b2 = b.to(at::kComplexHalf);
  const auto close = [](const Tensor& got, const Tensor& want) {
    CHECK(got.scalar_type() == at::kComplexHalf);
    CHECK(at::allclose(got.to(at::kComplexFloat), want, 1e-3, 1e-2));
  };
  close(at::conv2d(x2, w2, b2), at::conv2d(x, w, b));
  close(at::conv_transpose2d(x2, w2, b2), at::conv_transpose2d(x, w, b));
  for (const bool transposed : {false, true}) {
    const Tensor g = numbers(transposed ? at::IntArrayRef({1, 2, 6, 6}) : at::IntArrayRef({1, 2, 2, 2}));
    const auto gradients = [&](const Tensor& grad, const Tensor& input, const Tensor& weight) {
      return at::convolution_backward(
          grad, input, weight, at::IntArrayRef({2}), {1, 1}, {0, 0}, {1, 1}, transposed, {0, 0}, 1, {true, true, true});
    };
    const auto half = gradients(g.to(at::kComplexHalf), x2, w2), whole = gradients(g, x, w);
    close(std::get<0>(half), std::get<0>(whole));
    close(std::get<1>(half), std::get<1>(whole));
    close(std::get<2>(half), std::get<2>(whole));
  }
  const Tensor dropped = at::dropout(at::ones({100}, at::kComplexHalf), 0.5, true).to(at::kComplexFloat);
  CHECK(at::logical_or(dropped == 0, dropped == 2).all().item<bool>());
  CHECK(dropped.count_nonzero().item<int64_t>() > 20);
}

TEST_CASE("the wider unsigned integers are added, looked for and limited", "[dtypes]") {
  const Tensor index = at::tensor({0, 2, 0}, at::kLong);
  for (const at::ScalarType dtype : kNewUnsigned) {
    const Tensor x = whole({1, 2, 40'000}, dtype), zeros = whole({0, 0, 0}, dtype);
    CHECK_THAT(zeros.index_add(0, index, x).to(at::kLong), EqualsTensor({40'001, 0, 2}));
    CHECK_THAT(zeros.scatter_reduce(0, index, x, "amax").to(at::kLong), EqualsTensor({40'000, 0, 2}));
    CHECK_THAT(at::isin(x, whole({2, 5}, dtype)), EqualsTensor({0, 1, 0}));
    CHECK_THAT(at::searchsorted(x, whole({2, 3}, dtype)), EqualsTensor({1, 2}));
    CHECK_THAT(at::hardtanh(x, -1, 2).to(at::kLong), EqualsTensor({1, 2, 2}));
    CHECK_THAT(at::nan_to_num(x).to(at::kLong), EqualsTensor({1, 2, 40'000}));
    CHECK_THAT(x.clone().conj_physical_().to(at::kLong), EqualsTensor({1, 2, 40'000}));
    CHECK_THAT(at::linalg_vander(x, 2).flatten(), EqualsTensor({1, 1, 1, 2, 1, 40'000}));
    CHECK(at::result_type(x, c10::complex<double>(1, 2)) == at::kComplexFloat);
    CHECK_THAT(at::real(x.div(c10::complex<double>(0, 1))), EqualsTensor({0, 0, 0}));
  }
}

TEST_CASE("a byte is limited by numbers beyond its own", "[dtypes]") {
  const Tensor x = whole({0, 1, 200}, at::kByte);
  CHECK_THAT(x.clamp(-1, 1), EqualsTensor({0, 1, 1}));
  CHECK_THAT(x.clamp(1, 300), EqualsTensor({1, 1, 200}));
  CHECK_THROWS_WITH(x.clamp_max(300), Catch::Contains("value cannot be converted to type uint8_t without overflow"));
  CHECK_THAT(x.clone().clamp_(-300, 1), EqualsTensor({0, 1, 1}));
  CHECK_THAT(whole({-100, 5}, at::kChar).clamp(-1000, 3), EqualsTensor({-100, 3}));
  for (const at::ScalarType dtype : kNewUnsigned) {
    CHECK_THAT(x.to(dtype).clamp(-1, 1).to(at::kLong), EqualsTensor({0, 1, 1}));
  }
  CHECK_THROWS_MATCHES(
      x.clamp(-3, -1), c10::Error, Says("Clamp max value -1 is outside the representable range of Byte"));
  CHECK_THAT(at::hardtanh(x), EqualsTensor({0, 1, 1}));
  CHECK_THROWS_MATCHES(
      at::hardtanh(x, -3, -1), c10::Error, Says("cannot do hardtanh on an unsigned type with negative limits"));
}

TEST_CASE("derivatives of losses take integers", "[dtypes]") {
  const Tensor input = whole({1, 2, 3, 4, 5}, at::kInt), threes = whole({3, 3, 3, 3, 3}, at::kInt);
  CHECK_THAT(at::mse_loss_backward(threes, input, threes, at::Reduction::Sum), EqualsTensor({-12, -6, 0, 6, 12}));
  CHECK_THAT(
      at::smooth_l1_loss_backward(threes, input, threes, at::Reduction::Sum, 2), EqualsTensor({-3, -1, 0, 1, 3}));
  const Tensor bytes = at::smooth_l1_loss_backward(
      threes.to(at::kByte), input.to(at::kByte), threes.to(at::kByte), at::Reduction::Sum, 2);
  CHECK_THAT(bytes, EqualsTensor({253, 255, 0, 1, 3}));
  CHECK_THAT(
      at::mse_loss_backward(threes.to(at::kByte), input.to(at::kByte), threes.to(at::kByte), at::Reduction::Sum),
      EqualsTensor({244, 250, 0, 6, 12}));
}

TEST_CASE("grids and parts of factors of integers", "[dtypes]") {
  const Tensor theta = whole({1, 2, 3, 4, 5, 6}, at::kInt).view({1, 2, 3});
  CHECK_THAT(at::affine_grid_generator(theta, {1, 1, 2, 2}, true).flatten(), EqualsTensor({0, -3, 2, 5, 4, 7, 6, 15}));
  CHECK_THAT(
      at::affine_grid_generator(theta, {1, 1, 2, 3}, false).flatten(),
      EqualsTensor({3, 6, 3, 6, 3, 6, 3, 6, 3, 6, 3, 6}));
  const auto [P, L, U] = at::lu_unpack(whole({1, 2, 3, 4}, at::kLong).view({2, 2}), whole({2, 2}, at::kInt));
  CHECK_THAT(P.flatten(), EqualsTensor({0, 1, 1, 0}));
  CHECK_THAT(L.flatten(), EqualsTensor({1, 0, 3, 1}));
  CHECK_THAT(U.flatten(), EqualsTensor({1, 2, 0, 4}));
  CHECK(std::get<2>(at::lu_unpack(at::eye(2).to(at::kHalf), whole({1, 2}, at::kInt))).scalar_type() == at::kHalf);
}

TEST_CASE("recurrent cells of complex numbers", "[dtypes]") {
  const auto numbers = [](at::IntArrayRef sizes, double phase) {
    const Tensor steps = at::arange(c10::multiply_integers(sizes), at::kDouble) + phase;
    return at::complex(steps.sin(), steps.cos()).mul(0.3).view(sizes);
  };
  const Tensor x = numbers({2, 3}, 1), h = numbers({2, 2}, 2), c = numbers({2, 2}, 3);
  const Tensor w = numbers({8, 3}, 4), u = numbers({8, 2}, 5), b = numbers({8}, 6), d = numbers({8}, 7);
  const auto [hidden, cell] = at::lstm_cell(x, {h, c}, w, u, b, d);
  const std::vector<Tensor> gates = (at::linear(x, w, b) + at::linear(h, u, d)).chunk(4, 1);
  const Tensor want = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
  CHECK(at::allclose(cell, want));
  CHECK(at::allclose(hidden, gates[3].sigmoid() * want.tanh()));
  const auto part = [](const Tensor& t) { return t.narrow(0, 0, 6); };
  const Tensor next = at::gru_cell(x, h, part(w), part(u), part(b), part(d));
  const std::vector<Tensor> in = at::linear(x, part(w), part(b)).chunk(3, 1),
                            back = at::linear(h, part(u), part(d)).chunk(3, 1);
  const Tensor keep = (in[1] + back[1]).sigmoid(), fresh = (in[2] + (in[0] + back[0]).sigmoid() * back[2]).tanh();
  CHECK(at::allclose(next, (1 - keep) * fresh + keep * h));
  // A layer goes the same way.
  const auto [steps, last, state] =
      at::lstm(x.unsqueeze(0), {h.unsqueeze(0), c.unsqueeze(0)}, {w, u, b, d}, true, 1, 0, false, false, false);
  CHECK(at::allclose(last[0], hidden));
  CHECK(at::allclose(state[0], cell));
}

TEST_CASE("the dtype that a softmax read says nothing on a CPU", "[dtypes]") {
  const Tensor grad = at::tensor({1., 2., 3.}), output = at::tensor({0.2, 0.3, 0.5});
  CHECK(at::equal(
      at::_softmax_backward_data(grad, output, 0, at::kFloat),
      at::_softmax_backward_data(grad, output, 0, at::kDouble)));
  CHECK_THROWS_MATCHES(
      at::_softmax_backward_data(grad.to(at::kFloat), output.to(at::kFloat), 0, at::kHalf), c10::Error,
      Says("expected scalar type Float but found Half"));
}

TEST_CASE("ranges of integers count by whole numbers", "[dtypes]") {
  CHECK_THAT(at::range(0.5, 3.5, 1.5, at::kChar), EqualsTensor({0, 1, 2, 3}));
  CHECK_THROWS_MATCHES(at::range(0, 1, 0.5, at::kChar), c10::Error, Says("step must be nonzero"));
}

TEST_CASE("a complex product that meets an infinity is not a number", "[dtypes]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = at::complex(at::tensor({inf, 2.f}), at::tensor({1.f, 3.f}));
  const Tensor running = x.cumprod(0);
  CHECK_THAT(at::view_as_real(running).isnan().flatten(), EqualsTensor({0, 1, 1, 1}));
  CHECK(at::equal(
      at::view_as_real(at::stack({x, x}, 1).cumprod(0)).isnan().select(1, 0), at::view_as_real(running).isnan()));
  for (const Tensor& product : {x.prod(), x.prod(0), at::stack({x, x}, 1).prod(0)}) {
    CHECK(at::view_as_real(product).isnan().all().item<bool>());
  }
}

TEST_CASE("logical operators in place leave the history alone", "[dtypes]") {
  Tensor leaf = at::ones({2}).requires_grad_();
  leaf.logical_not_();
  CHECK_THAT(leaf.detach(), EqualsTensor({0, 0}));
  const Tensor x = at::ones({2}).requires_grad_();
  Tensor y = x * 2;
  y.logical_and_(at::zeros({2}));
  CHECK(y._version() == 1);
  y.sum().backward();
  CHECK_THAT(x.grad(), EqualsTensor({2, 2}));
}
