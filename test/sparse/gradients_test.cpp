// Gradients of and through sparse tensors. The expected texts were taken from PyTorch 2.
#include "support.h"

#include "test/support/gradcheck.h"

using namespace sparse_test;

namespace {

Tensor ramp(at::IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return at::arange(1.f, static_cast<float>(count + 1)).view(sizes);
}

Tensor leaf(at::IntArrayRef sizes) {
  return ramp(sizes).requires_grad_();
}

/// The matrix [[0, 0, 3], [4, 0, 5]] as a leaf.
Tensor sparse_leaf(at::Layout layout = at::kSparse) {
  const Tensor s = coo({{0, 1, 1}, {2, 0, 2}}, at::tensor({3.f, 4.f, 5.f}), {2, 3}).coalesce();
  return (layout == at::kSparse ? s : s.to_sparse(layout)).detach().requires_grad_();
}

void walk(const Tensor& out) {
  out.backward(out.layout() == at::kStrided ? ramp(out.sizes()) : at::ones(out.sizes()).to_sparse());
}

std::string grad_of(const Tensor& t) {
  return show(t.grad().is_sparse() ? t.grad().coalesce() : t.grad());
}

} // namespace

TEST_CASE("a gradient reaches the values a sparse tensor was made of", "[sparse][gradients]") {
  const Tensor i = places({{0, 1, 1}, {2, 0, 2}});
  Tensor v = leaf({3});
  walk(at::sparse_coo_tensor(i, v, {2, 3}).to_dense());
  CHECK(grad_of(v) == "[3] 3 4 6");
  Tensor w = leaf({3, 2});
  walk(at::sparse_coo_tensor(i, w, {2, 3, 2}).to_dense());
  CHECK(grad_of(w) == "[3, 2] 5 6 7 8 11 12");
  Tensor u = leaf({3});
  walk(at::sparse_coo_tensor(places({{1, 0, 1}, {2, 2, 2}}), u, {2, 3}).coalesce().values());
  CHECK(grad_of(u) == "[3] 2 1 2");
  Tensor x = leaf({3});
  walk(at::sparse_csr_tensor(indices({0, 1, 3}), indices({2, 0, 2}), x, {2, 3}, at::TensorOptions()).to_dense());
  CHECK(grad_of(x) == "[3] 3 4 6");
}

TEST_CASE("gradients of sparse tensors are as PyTorch's", "[sparse][gradients]") {
  const auto one = [](at::Layout layout, auto f) {
    const Tensor s = sparse_leaf(layout);
    walk(f(s));
    return grad_of(s);
  };
  const at::Layout coordinates = at::kSparse, rows = at::kSparseCsr;
  CHECK(one(coordinates, [](Tensor s) { return s.to_dense(); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 6");
  CHECK(one(coordinates, [](Tensor s) {
          return s.to_dense({}, false);
        }) == "sorted [2, 3] at 0 0 0 1 1 1 0 1 2 0 1 2 are 1 2 3 4 5 6");
  CHECK(one(coordinates, [](Tensor s) { return s.values() * 2; }) == "sorted [2, 3] at 0 1 1 2 0 2 are 2 4 6");
  CHECK(one(coordinates, [](Tensor s) { return s.mm(ramp({3, 2})); }) == "[2, 3] 5 11 17 11 25 39");
  CHECK(one(coordinates, [](Tensor s) {
          return at::_sparse_mm(s, ramp({3, 2}));
        }) == "sorted [2, 3] at 0 1 1 2 0 2 are 17 11 39");
  CHECK(one(coordinates, [](Tensor s) { return s.mv(ramp({3})); }) == "[2, 3] 1 2 3 2 4 6");
  CHECK(one(coordinates, [](Tensor s) { return s.sum(); }) == "[2, 3] 1 1 1 1 1 1");
  CHECK(one(coordinates, [](Tensor s) { return at::_sparse_sum(s, 0); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 1 1 1");
  CHECK(one(coordinates, [](Tensor s) { return ramp({2, 3}) + s; }) == "[2, 3] 1 2 3 4 5 6");
  CHECK(one(coordinates, [](Tensor s) { return s * 2; }) == "sorted [2, 3] at 0 0 0 1 1 1 0 1 2 0 1 2 are 2 2 2 2 2 2");
  CHECK(one(coordinates, [](Tensor s) { return s.pow(2); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 6 8 10");
  CHECK(one(coordinates, [](Tensor s) { return s.t().to_dense(); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 5 2 6");
  CHECK(one(coordinates, [](Tensor s) {
          return s.to_sparse_csr().to_dense();
        }) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 6");
  CHECK(one(coordinates, [](Tensor s) { return s.clone().to_dense(); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 6");
  CHECK(one(coordinates, [](Tensor s) {
          return s.to(at::kDouble).to_dense().to(at::kFloat);
        }) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 6");
  CHECK(
      one(coordinates, [](Tensor s) { return at::_sparse_softmax(s, 1); }) == "sorted [2, 3] at 0 1 1 2 0 2 are 0 0 0");
  CHECK(one(coordinates, [](Tensor s) {
          return at::_sparse_mm(s, sparse_leaf().detach().t());
        }) == "sorted [2, 3] at 0 1 1 2 0 2 are 8 4 8");
  CHECK(one(rows, [](Tensor s) { return s.to_dense(); }) == "csr [2, 3] from 0 1 3 at 2 0 2 are 3 4 6");
  CHECK(one(rows, [](Tensor s) { return s.values() * 2; }) == "csr [2, 3] from 0 1 3 at 2 0 2 are 2 4 6");
  CHECK(one(rows, [](Tensor s) { return s.mm(ramp({3, 2})); }) == "[2, 3] 5 11 17 11 25 39");
  CHECK(one(rows, [](Tensor s) {
          return at::_sparse_mm(s, ramp({3, 2}));
        }) == "csr [2, 3] from 0 1 3 at 2 0 2 are 17 11 39");
  CHECK(one(rows, [](Tensor s) { return s.sum(); }) == "[2, 3] 1 1 1 1 1 1");
}

TEST_CASE("gradients of the strided side of a product are as PyTorch's", "[sparse][gradients]") {
  for (const at::Layout layout : {at::kSparse, at::kSparseCsr}) {
    const Tensor s = sparse_leaf(layout).detach();
    Tensor right = leaf({3, 2});
    walk(s.mm(right));
    CHECK(grad_of(right) == "[3, 2] 12 16 0 0 18 26");
    Tensor left = leaf({2, 2});
    walk(left.mm(s));
    CHECK(grad_of(left) == "[2, 2] 9 19 18 46");
    Tensor base = leaf({2, 2}), factor = leaf({3, 2});
    walk(at::addmm(base, s, factor, 2, 3));
    CHECK(grad_of(base) == "[2, 2] 2 4 6 8");
    CHECK(grad_of(factor) == "[3, 2] 36 48 0 0 54 78");
    Tensor vec = leaf({3});
    walk(s.mv(vec));
    CHECK(grad_of(vec) == "[3] 8 0 13");
  }
}

TEST_CASE("gradients of conversions of strided tensors are strided", "[sparse][gradients]") {
  Tensor a = leaf({2, 3});
  walk(a.to_sparse());
  CHECK(grad_of(a) == "[2, 3] 1 1 1 1 1 1");
  Tensor b = leaf({2, 3});
  walk(b.to_sparse_csr().to_dense());
  CHECK(grad_of(b) == "[2, 3] 1 2 3 4 5 6");
  Tensor c = leaf({2, 3});
  walk(c.sparse_mask(sparse_leaf().detach()).to_dense());
  CHECK(grad_of(c) == "[2, 3] 0 0 3 4 0 6");
}

TEST_CASE("tables read in few rows have sparse gradients", "[sparse][gradients]") {
  Tensor w = leaf({4, 2});
  walk(at::embedding(w, places({{1, 2}, {1, 0}}), -1, false, /*sparse=*/true));
  CHECK(show(w.grad()) == "coo [4, 2] at 1 2 1 0 are 1 2 3 4 5 6 7 8");
  Tensor padded = leaf({4, 2});
  walk(at::embedding(padded, places({{1, 2}, {1, 0}}), 1, false, /*sparse=*/true));
  CHECK(show(padded.grad()) == "coo [4, 2] at 2 0 are 3 4 7 8");
  Tensor twice = leaf({4, 2});
  walk(at::embedding(twice, indices({1, 2}), -1, false, true) + at::embedding(twice, indices({1, 0}), -1, false, true));
  CHECK(show(twice.grad().coalesce()) == "sorted [4, 2] at 0 1 2 are 3 4 2 4 3 4");
  Tensor mixed = leaf({4, 2});
  (at::embedding(mixed, indices({1, 2}), -1, false, true).sum() + (mixed * mixed).sum()).backward();
  CHECK(show(mixed.grad()) == "[4, 2] 2 4 7 9 11 13 14 16");
  for (const int64_t mode : {0, 1}) {
    Tensor bag = leaf({4, 2});
    walk(std::get<0>(at::embedding_bag(bag, indices({1, 2, 1, 0}), indices({0, 2}), false, mode, /*sparse=*/true)));
    CHECK(
        show(bag.grad()) ==
        (mode == 0 ? "coo [4, 2] at 1 2 1 0 are 1 2 1 2 3 4 3 4"
                   : "coo [4, 2] at 1 2 1 0 are 0.5 1 0.5 1 1.5 2 1.5 2"));
  }
}

TEST_CASE("sparse gradients add up in leaves", "[sparse][gradients]") {
  Tensor w = leaf({4, 2});
  const auto rows = [&] { at::embedding(w, indices({1, 2}), -1, false, true).sum().backward(); };
  rows();
  CHECK(show(w.grad()) == "coo [4, 2] at 1 2 are 1 1 1 1");
  rows();
  CHECK(show(w.grad().coalesce()) == "sorted [4, 2] at 1 2 are 2 2 2 2");
  (w * w).sum().backward();
  CHECK(show(w.grad()) == "[4, 2] 2 4 8 10 12 14 14 16");
  rows();
  CHECK(show(w.grad()) == "[4, 2] 2 4 9 11 13 15 14 16");
}

TEST_CASE("derivatives through sparse tensors agree with differences", "[sparse][gradients]") {
  const Tensor i = places({{1, 0, 1, 1}, {2, 2, 0, 2}});
  const Tensor v = at::tensor({0.3, -1.2, 0.7, 2.1}).requires_grad_();
  const Tensor m = at::linspace(-1, 1, 6, at::kDouble).view({3, 2}).requires_grad_();
  const auto sparse = [&](const Tensor& values) { return at::sparse_coo_tensor(i, values, {2, 3}); };
  const auto check = [](const test::Function& f, const std::vector<Tensor>& inputs) {
    CHECK(test::gradcheck(f, inputs) == "");
    CHECK(test::gradgradcheck(f, inputs) == "");
  };
  using List = std::vector<Tensor>;
  check([&](const List& x) { return List{sparse(x[0]).to_dense()}; }, {v});
  check([&](const List& x) { return List{sparse(x[0]).coalesce().values()}; }, {v});
  check([&](const List& x) { return List{at::_sparse_mm(sparse(x[0]), x[1])}; }, {v, m});
  // The gradient of a strided factor would be sparse, which the comparison does not read.
  check([&](const List& x) { return List{(sparse(x[0]) * m.detach().t()).to_dense()}; }, {v});
  check([&](const List& x) { return List{(sparse(x[0]) + sparse(x[0] * 2)).to_dense()}; }, {v});
  check([&](const List& x) { return List{x[0].t().sparse_mask(sparse(v.detach()).coalesce()).to_dense()}; }, {m});
  CHECK(test::gradcheck([&](const List& x) { return List{at::_sparse_sum(sparse(x[0]), 0).to_dense()}; }, {v}) == "");
  CHECK(
      test::gradcheck([&](const List& x) { return List{at::_sparse_softmax(sparse(x[0]), 1).to_dense()}; }, {v}) == "");
  CHECK(
      test::gradcheck([&](const List& x) { return List{at::_sparse_log_softmax(sparse(x[0]), 0).to_dense()}; }, {v}) ==
      "");
}

TEST_CASE("products that end in a reduction have gradients", "[sparse][gradients]") {
  const Tensor b = at::tensor({1., -2., 3., 0.5, -1., 2., 4., -3., 1.5, 0., 2.5, -0.5}).view({4, 3}).requires_grad_();
  const Tensor dense =
      at::tensor({0., 1., -2., 0., 0., 0., 0., 0., 3., 0., 0., 0., 4., 0., 0., 5., 0., 0., 0., 0.}, at::kDouble)
          .view({5, 4});
  const Tensor up = at::arange(1., 16.).view({5, 3});
  const auto grads = [&](std::string_view reduce, at::ScalarType index) {
    const Tensor csr = dense.to_sparse_csr();
    const Tensor a =
        at::sparse_csr_tensor(csr.crow_indices().to(index), csr.col_indices().to(index), csr.values(), {5, 4})
            .requires_grad_();
    const Tensor out = at::_sparse_mm(a, b, reduce);
    CHECK(out.grad_fn()->name() == "SparseMmReduceImplBackward0");
    const std::vector<Tensor> grad = torch::autograd::grad({out}, {a, b}, {up});
    return show(out) + "; " + show(grad[0].values()) + "; " + show(grad[1]);
  };
  for (const at::ScalarType index : {at::kInt, at::kLong}) {
    CHECK(
        grads("sum", index) ==
        "[5, 3] -7.5 5 -1 0 0 0 3 -6 9 4 4.5 9.5 0 0 0; [5] 4.5 2.5 18 24 21.5; [4, 3] 61 68 75 1 2 3 -2 -4 -6 50 55 "
        "60");
    CHECK(
        grads("mean", index) ==
        "[5, 3] -3.75 2.5 -0.5 0 0 0 3 -6 9 2 2.25 4.75 0 0 0; [5] 2.25 1.25 18 12 10.75; [4, 3] 41 46 51 0.5 1 1.5 -1 "
        "-2 -3 25 27.5 30");
    CHECK(
        grads("amax", index) ==
        "[5, 3] 0.5 6 2 0 0 0 3 -6 9 4 12.5 12 0 0 0; [5] 6.5 -6 18 46 27.5; [4, 3] 61 24 75 1 0 3 0 -4 0 0 55 0");
    CHECK(
        grads("amin", index) ==
        "[5, 3] -8 -1 -3 0 0 0 3 -6 9 0 -8 -2.5 0 0 0; [5] -2 8.5 18 -22 -6; [4, 3] 21 68 27 0 2 0 -2 0 -6 50 0 60");
  }
}

TEST_CASE("the places that a reduction took are kept where a gradient needs them", "[sparse][gradients]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor a = at::sparse_csr_tensor(
      indices({0, 3, 3, 6}), indices({0, 1, 2, 0, 1, 2}), at::tensor({1.f, 1.f, 1.f, 1.f, 2.f, 1.f}), {3, 3},
      at::TensorOptions());
  const Tensor b = at::tensor({1.f, nan, nan, 2.f, 1.f, nan, 3.f, 2.f, 1.f, 0.f, nan, 1.f}).view({3, 4});
  CHECK(std::get<1>(at::_sparse_mm_reduce_impl(a, b, "amax")).sizes() == at::IntArrayRef{0});
  b.requires_grad_();
  CHECK(show(std::get<1>(at::_sparse_mm_reduce_impl(a, b, "amax"))) == "[3, 4] 0 1 2 0 6 6 6 6 4 4 5 4");
  CHECK(show(std::get<1>(at::_sparse_mm_reduce_impl(a, b, "amin"))) == "[3, 4] 0 1 2 2 6 6 6 6 3 4 5 5");
  CHECK(std::get<1>(at::_sparse_mm_reduce_impl(a, b, "mean")).numel() == 0);
  CHECK_FALSE(std::get<1>(at::_sparse_mm_reduce_impl(a, b, "amax")).requires_grad());
  const Tensor half = b.detach().nan_to_num().to(at::kHalf);
  CHECK(
      show(at::_sparse_mm(a.to(at::kHalf), half, "mean").to(at::kFloat)) ==
      "[3, 4] 1 0 1 1.66699 0 0 0 0 1.33301 0 2 2.33398");
}
