// What out forms take and refuse beyond sizes: memory that is shared, other dtypes, strides.
#include <catch2/catch.hpp>

#include <ATen/ATen.h>

#include <string>

using at::Tensor;

namespace {

const auto kShared = Catch::Contains("some elements of the input tensor and the written-to tensor refer to a single");

/// Sixteen numbers, of which views share memory.
Tensor memory() {
  return at::rand({16});
}

} // namespace

TEST_CASE("an output may be an input, but not meet a part of one that is read in the same pass", "[outputs]") {
  const Tensor m = memory(), x = m.slice(0, 0, 4), y = at::rand({4});
  Tensor moved = m.slice(0, 1, 5), itself = x;
  const Tensor want = at::mse_loss(x, y, at::Reduction::None);
  CHECK_THROWS_WITH(at::mse_loss_out(moved, x, y, at::Reduction::None), kShared);
  CHECK_THROWS_WITH(at::smooth_l1_loss_out(moved, y, x), kShared);
  CHECK_THROWS_WITH(at::huber_loss_out(moved, x, y), kShared);
  CHECK_THROWS_WITH(at::soft_margin_loss_out(moved, x, y), kShared);
  CHECK_THROWS_WITH(at::binary_cross_entropy_out(moved, y, y, x), kShared);
  CHECK(at::mse_loss_out(itself, x, y, at::Reduction::None).equal(want));
}

TEST_CASE("an output may not meet the parts in which an input is read", "[outputs]") {
  const Tensor m = memory(), rows = m.slice(0, 0, 8).view({4, 2}), row = m.slice(0, 0, 8).view({1, 8});
  Tensor halves = m.slice(0, 1, 5).view({2, 2}), steps = m.slice(0, 0, 7).view({1, 7});
  CHECK_THROWS_WITH(at::glu_out(halves, rows, 0), kShared);
  CHECK_THROWS_WITH(at::diff_out(steps, row), kShared);
  const Tensor second = at::diff(row, 2);
  Tensor shorter = m.slice(0, 0, 6).view({1, 6});
  CHECK(at::diff_out(shorter, row, 2).equal(second)); // made of other differences

  const Tensor square = memory().view({4, 4});
  Tensor itself = square;
  CHECK_THROWS_WITH(at::kron_out(itself, square, at::ones({2, 2})), kShared);
  const Tensor numbers = memory(), column = numbers.slice(0, 0, 3);
  Tensor begins_there = numbers.slice(0, 0, 9).view({3, 3});
  CHECK_THROWS_WITH(at::addr_out(begins_there, at::ones({3, 3}), column, at::ones({3})), kShared);
}

TEST_CASE("a convolution's output lies outside of the bias", "[outputs]") {
  const Tensor x = at::rand({1, 3, 1, 4}), weight = at::rand({3, 3, 1, 3}), bias = at::rand({3});
  Tensor itself = bias;
  CHECK_THROWS_WITH(at::thnn_conv2d_out(itself, x, weight, {1, 3}, bias), kShared);
  const Tensor want = at::thnn_conv2d(x, weight, {1, 3}, at::ones({3}));
  Tensor stepped = at::empty({1, 3, 1, 4}).slice(3, 0, 4, 2);
  at::thnn_conv2d_out(stepped, x, weight, {1, 3}, at::ones({3}));
  CHECK(stepped.is_contiguous());
  CHECK(stepped.equal(want));
}

TEST_CASE("outputs that convert take every dtype that values can go to", "[outputs]") {
  const Tensor x = at::tensor({2.f, 0.f, 0.f, 0.f}).to(at::kComplexFloat);
  Tensor whole = at::empty({6}, at::kLong), real = at::empty({}), zeros = at::empty({4}, at::kLong);
  CHECK(at::_fft_c2r_out(whole, x, {0}, 0, 6).equal(at::full({6}, 2, at::kLong)));
  CHECK(at::logsumexp_out(real, x, 0).item<float>() > 2);
  CHECK(at::mean_out(real, x, 0).item<float>() == 0.5);
  CHECK(at::bernoulli_outf(at::zeros({4}), std::nullopt, zeros).eq(0).all().item<bool>());
  Tensor blocks = at::empty({0}, at::kLong);
  CHECK(at::im2col_out(blocks, at::ones({0, 1, 3, 3}), {2, 2}, {1, 1}, {0, 0}, {1, 1}).sizes()[1] == 4);
  CHECK_THROWS_WITH(
      at::im2col_out(blocks, at::ones({1, 1, 3, 3}), {2, 2}, {1, 1}, {0, 0}, {1, 1}),
      Catch::StartsWith("expected scalar type Float but found Long"));
}

TEST_CASE("variances are written to the dtypes that PyTorch has kernels for", "[outputs]") {
  const Tensor x = at::rand({2, 3});
  Tensor pair = at::empty({2}, at::kComplexFloat), number = at::empty({});
  CHECK_THROWS_AS(at::std_out(pair, x, at::IntArrayRef({1})), c10::NotImplementedError);
  CHECK_THROWS_WITH(
      at::var_out(number, x.to(at::kBFloat16), at::OptionalIntArrayRef(), at::Scalar(1)),
      Catch::StartsWith("std_var_all: Unsupported dtype BFloat16"));
  CHECK(at::var_out(number, x, at::OptionalIntArrayRef(), at::Scalar(1)).equal(x.var()));
}

TEST_CASE("an output without elements takes the strides of LAPACK's result", "[outputs]") {
  Tensor a = at::empty({5, 0}), tau = at::empty({0});
  at::geqrf_out(a, tau, at::rand({5, 0}));
  CHECK(a.strides() == at::IntArrayRef({1, 5}));
  Tensor larger = at::empty({2, 6, 6}), two = at::empty({3});
  at::geqrf_out(larger, two, at::rand({5, 5}));
  CHECK(larger.strides() == at::IntArrayRef({5, 1}));
}

TEST_CASE("solve's output takes the strides of LAPACK's result where it is resized", "[outputs]") {
  const Tensor A = at::eye(5).expand({2, 5, 5}), vectors = at::rand({2, 5}), matrices = at::rand({2, 5, 3});
  Tensor vector = at::empty({0}), matrix = at::empty({0}), fits = at::empty({2, 5});
  CHECK(at::equal(at::linalg_solve_out(vector, A, vectors), vectors));
  CHECK(vector.strides() == at::IntArrayRef({1, 2}));
  CHECK(at::equal(at::linalg_solve_out(matrix, A, matrices), matrices));
  CHECK(matrix.strides() == at::IntArrayRef({15, 1, 5}));
  CHECK(at::equal(at::linalg_solve_out(fits, A, vectors), vectors));
  CHECK(fits.strides() == at::IntArrayRef({5, 1}));
}

TEST_CASE("svd's outputs are of the input's dtypes, and U by columns where it is resized", "[outputs]") {
  const Tensor matrix = at::rand({3, 3});
  Tensor U = at::empty({0}), S = at::empty({0}), V = at::empty({0}), wide = at::empty({0}, at::kDouble);
  at::svd_out(U, S, V, matrix);
  CHECK(U.strides() == at::IntArrayRef({1, 3}));
  CHECK(V.strides() == at::IntArrayRef({3, 1}));
  CHECK_THROWS_WITH(at::svd_out(U, wide, V, matrix), Catch::StartsWith("Expected out tensor to have dtype float"));
}
