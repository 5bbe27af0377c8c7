// Values of sparse operators. The expected texts were taken from PyTorch 2.
#include "support.h"

using namespace sparse_test;

namespace {

// The tensors that the rows below speak of.
const Tensor s = coo({{1, 0, 1, 1}, {2, 2, 0, 2}}, at::tensor({1.f, 3.f, 4.f, 4.f}), {2, 3});
const Tensor c = s.coalesce();
const Tensor t = coo({{0, 1}, {0, 2}}, at::tensor({2.f, -1.f}), {2, 3}).coalesce();
const Tensor h = coo({{2, 0, 2}}, at::arange(1.f, 7.f).view({3, 2}), {3, 2});
const Tensor r = c.to_sparse_csr();
const Tensor d = at::arange(1.f, 7.f).view({2, 3});
const Tensor m = at::arange(1.f, 7.f).view({3, 2});
const Tensor v = at::arange(1.f, 4.f);

} // namespace

TEST_CASE("sparse conversions agree with PyTorch", "[sparse]") {
  CHECK(show(s.coalesce()) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 5");
  CHECK(show(h.coalesce()) == "sorted [3, 2] at 0 2 are 3 4 6 8");
  CHECK(show(s.to_dense()) == "[2, 3] 0 0 3 4 0 5");
  CHECK(show(h.to_dense()) == "[3, 2] 3 4 0 0 6 8");
  CHECK(show(d.sub(3).relu().to_sparse()) == "sorted [2, 3] at 1 1 1 0 1 2 are 1 2 3");
  CHECK(show(d.sub(3).relu().to_sparse(1)) == "sorted [2, 3] at 1 are 1 2 3");
  CHECK(show(s.to_sparse_csr()) == "csr [2, 3] from 0 1 3 at 2 0 2 are 3 4 5");
  CHECK(show(s.to_sparse_csc()) == "csc [2, 3] from 0 1 1 3 at 1 0 1 are 4 3 5");
  CHECK(show(c.to_sparse_bsr({2, 1})) == "bsr [2, 3] from 0 2 at 0 2 are 0 4 3 5");
  CHECK(show(c.to_sparse_bsc({1, 3})) == "bsc [2, 3] from 0 2 at 0 1 are 0 0 3 4 0 5");
  CHECK(show(r.to_sparse()) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 5");
  CHECK(show(s.to_sparse_csc().to_sparse_csr()) == "csr [2, 3] from 0 1 3 at 2 0 2 are 3 4 5");
  CHECK(show(c.to_sparse_bsr({2, 1}).to_dense()) == "[2, 3] 0 0 3 4 0 5");
  CHECK(show(s.to_sparse_csc().to_dense()) == "[2, 3] 0 0 3 4 0 5");
  CHECK(show(d.sparse_mask(c)) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 6");
  CHECK(show(t.sparse_mask(c)) == "sorted [2, 3] at 0 1 1 2 0 2 are 0 0 -1");
  CHECK(show(at::zeros_like(c)) == "sorted [2, 3] at  are ");
  CHECK(show(c.to(at::kDouble)) == "sorted [2, 3] at 0 1 1 2 0 2 are 3 4 5");
  CHECK(
      show(at::stack({d, d * 2}).to_sparse_csr()) ==
      "csr [2, 2, 3] from 0 3 6 0 3 6 at 0 1 2 0 1 2 0 1 2 0 1 2 are 1 2 3 4 5 6 2 4 6 8 10 12");
  CHECK(show(at::stack({d, d * 2}).to_sparse_csr().to_dense()) == "[2, 2, 3] 1 2 3 4 5 6 2 4 6 8 10 12");
}

TEST_CASE("sparse pointwise operators agree with PyTorch", "[sparse]") {
  CHECK(show(c + t) == "sorted [2, 3] at 0 0 1 1 0 2 0 2 are 2 3 4 4");
  CHECK(show(at::add(c, t, 3)) == "sorted [2, 3] at 0 0 1 1 0 2 0 2 are 6 3 4 2");
  CHECK(show(d + s) == "[2, 3] 1 2 6 8 5 11");
  CHECK(show(c - t) == "sorted [2, 3] at 0 0 1 1 0 2 0 2 are -2 3 4 6");
  CHECK(show(d - s) == "[2, 3] 1 2 0 0 5 1");
  CHECK(show(c * t) == "sorted [2, 3] at 1 2 are -5");
  CHECK(show(c * d) == "sorted [2, 3] at 0 1 1 2 0 2 are 9 16 30");
  CHECK(show(d * c) == "sorted [2, 3] at 0 1 1 2 0 2 are 9 16 30");
  CHECK(show(c * d[0]) == "sorted [2, 3] at 0 1 1 2 0 2 are 9 4 15");
  CHECK(show(c * 2) == "sorted [2, 3] at 0 1 1 2 0 2 are 6 8 10");
  CHECK(show(c / 2) == "sorted [2, 3] at 0 1 1 2 0 2 are 1.5 2 2.5");
  CHECK(show(at::div(c, 3, "floor")) == "sorted [2, 3] at 0 1 1 2 0 2 are 1 1 1");
  CHECK(show(-c) == "sorted [2, 3] at 0 1 1 2 0 2 are -3 -4 -5");
  CHECK(show(c.pow(2)) == "sorted [2, 3] at 0 1 1 2 0 2 are 9 16 25");
  CHECK(show(c.mul(0).sin()) == "sorted [2, 3] at 0 1 1 2 0 2 are 0 0 0");
  CHECK(show(c.sub(t).mul(4).mul(0.25).abs().coalesce().sign()) == "sorted [2, 3] at 0 0 1 1 0 2 0 2 are 1 1 1 1");
  CHECK(show(t.relu()) == "sorted [2, 3] at 0 1 0 2 are 2 0");
  CHECK(show(c.isnan().to(at::kDouble)) == "sorted [2, 3] at 0 1 1 2 0 2 are 0 0 0");
  CHECK(show(h.coalesce() + h.coalesce()) == "sorted [3, 2] at 0 2 are 6 8 12 16");
  CHECK(show(h.coalesce() * m) == "sorted [3, 2] at 0 2 are 3 8 30 48");
  CHECK(show(r + t.to_sparse_csr()) == "csr [2, 3] from 0 2 4 at 0 2 0 2 are 2 3 4 4");
  CHECK(show(d + r) == "[2, 3] 1 2 6 8 5 11");
  CHECK(show(r * t.to_sparse_csr()) == "csr [2, 3] from 0 0 1 at 2 are -5");
  CHECK(show(r * 3) == "csr [2, 3] from 0 1 3 at 2 0 2 are 9 12 15");
  CHECK(show(r.mul(0).sin()) == "csr [2, 3] from 0 1 3 at 2 0 2 are 0 0 0");
}

TEST_CASE("sparse products and sums agree with PyTorch", "[sparse]") {
  CHECK(show(s.mm(m)) == "[2, 2] 15 18 29 38");
  CHECK(show(m.mm(s)) == "[3, 3] 8 0 13 16 0 29 24 0 45");
  CHECK(show(at::mm(c, t.t()).coalesce()) == "sorted [2, 2] at 0 1 1 1 0 1 are -3 8 -5");
  CHECK(show(s.mv(v)) == "[2] 9 19");
  CHECK(show(at::addmm(at::ones({2, 2}), s, m, 2, 3)) == "[2, 2] 47 56 89 116");
  CHECK(show(at::hspmm(c, m).coalesce()) == "sorted [2, 2] at 0 1 are 15 18 29 38");
  CHECK(show(at::smm(c, m).coalesce()) == "sorted [2, 2] at 0 0 1 1 0 1 0 1 are 15 18 29 38");
  CHECK(
      show(at::sspaddmm(at::eye(2).to_sparse(), c, m, 2, 3).coalesce()) ==
      "sorted [2, 2] at 0 0 1 1 0 1 0 1 are 47 54 87 116");
  CHECK(show(at::bmm(at::stack({c, t}), at::stack({m, m * 2}))) == "[2, 2, 2] 15 18 29 38 4 8 -10 -12");
  CHECK(show(s.sum()) == "[] 12");
  CHECK(show(s.sum(0)) == "sorted [3] at 0 2 are 4 8");
  CHECK(show(s.sum(1, true).coalesce()) == "sorted [2, 1] at 0 1 0 0 are 3 9");
  CHECK(show(s.sum({0, 1})) == "[] 12");
  CHECK(show(h.sum(0)) == "[2] 9 12");
  CHECK(show(h.sum(1)) == "sorted [3] at 0 2 are 7 14");
  CHECK(show(c.mul(2).pow(2).norm(1)) == "[] 200");
  CHECK(show(at::_sparse_softmax(c * 0, 1)) == "sorted [2, 3] at 0 1 1 2 0 2 are 1 0.5 0.5");
  CHECK(show(s.any().to(at::kDouble)) == "[] 1");
  CHECK(show(r.mm(m)) == "[2, 2] 15 18 29 38");
  CHECK(show(m.mm(r)) == "[3, 3] 8 0 13 16 0 29 24 0 45");
  CHECK(show(r.mv(v)) == "[2] 9 19");
  CHECK(show(at::addmm(at::ones({2, 2}), r, m, 2, 3)) == "[2, 2] 47 56 89 116");
  CHECK(show(r.sum()) == "[] 12");
  CHECK(show(r.sum(0, true)) == "csr [1, 3] from 0 2 at 0 2 are 4 8");
  CHECK(show(r.sum(1, true)) == "csr [2, 1] from 0 1 2 at 0 0 are 3 9");
  CHECK(
      show(at::sparse_sampled_addmm(r, m.narrow(0, 0, 2), m.narrow(0, 0, 2).t().mm(at::ones({2, 3})), 2, 1)) ==
      "csr [2, 3] from 0 1 3 at 2 0 2 are 22 44 46");
  CHECK(show(d.sparse_mask(r)) == "csr [2, 3] from 0 1 3 at 2 0 2 are 3 4 6");
}

TEST_CASE("batches of compressed matrices agree with PyTorch", "[sparse]") {
  const Tensor b = at::sparse_csr_tensor(
      at::stack({indices({0, 1, 2}), indices({0, 0, 2})}), at::stack({indices({0, 1}), indices({0, 1})}),
      at::arange(1, 5, at::kFloat).view({2, 2}), {2, 2, 2});
  const Tensor x = at::arange(8, at::kFloat).view({2, 2, 2});
  CHECK(show(b.to_dense()) == "[2, 2, 2] 1 0 0 2 0 0 3 4");
  CHECK(show(b.to_sparse()) == "sorted [2, 2, 2] at 0 0 1 1 0 1 1 1 0 1 0 1 are 1 2 3 4");
  CHECK(show(b.to_sparse(2)) == show(b.to_sparse()));
  CHECK(show(b.select(0, 0)) == "csr [2, 2] from 0 1 2 at 0 1 are 1 2");
  CHECK(show(b.select(0, -1)) == "csr [2, 2] from 0 0 2 at 0 1 are 3 4");
  CHECK(show(b.transpose(1, 2)) == "csc [2, 2, 2] from 0 1 2 0 0 2 at 0 1 0 1 are 1 2 3 4");
  CHECK(show(x.sparse_mask(b)) == "csr [2, 2, 2] from 0 1 2 0 0 2 at 0 1 0 1 are 0 3 6 7");
  CHECK(show((b * 2).sparse_mask(b)) == "csr [2, 2, 2] from 0 1 2 0 0 2 at 0 1 0 1 are 2 4 6 8");
  CHECK(show(x.add(1).to_sparse_csr()) == "csr [2, 2, 2] from 0 2 4 0 2 4 at 0 1 0 1 0 1 0 1 are 1 2 3 4 5 6 7 8");
  const Tensor deep = b.to_dense().unsqueeze(3).mul(at::tensor({1.f, 10.f})).to_sparse_csr(1);
  CHECK(show(deep.select(3, 1)) == "csr [2, 2, 2] from 0 1 2 0 0 2 at 0 1 0 1 are 10 20 30 40");
  CHECK_THROWS_MATCHES(b.select(1, 0), c10::Error, Says("selecting sparse dimensions is not supported for batched"));
  CHECK_THROWS_MATCHES(
      b.select(0, 2), c10::IndexError, Says("index 2 out of range for tensor of size [2, 2, 2] at dimension 0"));
  CHECK_THROWS_MATCHES(
      at::arange(8).view({2, 2, 2}).to_sparse_csr(), c10::Error,
      Says("Expect the same number of specified elements per batch."));
}

TEST_CASE("batches of compressed matrices convert and multiply, which PyTorch does not do on the CPU", "[sparse]") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kLong, at::kComplexDouble);
  const Tensor places = at::stack({at::eye(4), at::eye(4).flip(0), at::eye(4).roll(1, 0)}).to(dtype);
  const Tensor dense = places * at::arange(1, 49).view({3, 4, 4}).to(dtype);
  const Tensor other = at::arange(24).view({3, 4, 2}).to(dtype);
  const Tensor csr = dense.to_sparse_csr();
  for (const Tensor& batch :
       {csr, dense.to_sparse_csc(), csr.to_sparse_csc(), csr.to_sparse_csc().to_sparse_csr(),
        dense.to_sparse_bsr({1, 2}), csr.to_sparse_bsr({1, 2}), csr.to_sparse_bsc({2, 1})}) {
    INFO(batch.layout());
    CHECK(at::equal(batch.to_dense(), dense));
    CHECK(at::equal(batch.to_sparse().to_dense(), dense));
    CHECK(at::equal(batch.bmm(other), dense.bmm(other)));
    CHECK(at::equal(batch.matmul(other), dense.bmm(other)));
    CHECK(at::equal(other.transpose(1, 2).matmul(batch), other.transpose(1, 2).bmm(dense)));
    CHECK(at::equal(batch.select(0, 1).to_dense(), dense.select(0, 1)));
  }
  Tensor out = at::empty({0}, other.options());
  at::bmm_out(out, csr, other);
  CHECK(at::equal(out, dense.bmm(other)));
  const Tensor many = dense.view({1, 3, 4, 4}).expand({2, 3, 4, 4}).to_sparse_csr();
  CHECK(at::equal(many.to_sparse().to_dense(), dense.expand({2, 3, 4, 4})));
  CHECK(at::equal(many.select(1, 2).select(0, 0).to_dense(), dense.select(0, 2)));
  CHECK_THROWS_MATCHES(csr.bmm(csr), c10::Error, Says("one of both batches must be strided"));
  CHECK_THROWS_MATCHES(
      csr.select(0, 0).bmm(other), c10::Error, Says("bmm: batches of matrices expected, got 2D and 3D"));
}

TEST_CASE("a batch of many matrices converts as one", "[sparse]") {
  const Tensor dense = at::arange(1, 40'001).view({20'000, 2}).diag_embed();
  const Tensor csr = dense.to_sparse_csr();
  for (const Tensor& batch :
       {csr, dense.to_sparse_csc(), csr.to_sparse_csc(), csr.to_sparse_bsr({1, 2}),
        csr.to_sparse_csc().sparse_mask(csr)}) {
    INFO(batch.layout());
    CHECK(batch.to_sparse()._nnz() == (batch.layout() == at::kSparseBsr ? 80'000 : 40'000));
    CHECK(at::equal(batch.to_dense(), dense));
  }
  CHECK(show(at::zeros({2, 0, 3}).to_sparse_csr()) == "csr [2, 0, 3] from 0 0 at  are ");
  CHECK(show(at::zeros({2, 3, 0}).to_sparse_csc()) == "csc [2, 3, 0] from 0 0 at  are ");
}

TEST_CASE("gradients go through batches of compressed matrices", "[sparse][gradients]") {
  const Tensor x = at::stack({at::eye(3), at::eye(3).flip(0)}).to(at::kDouble).set_requires_grad(true);
  const Tensor y = at::arange(12, at::kDouble).view({2, 3, 2}).set_requires_grad(true);
  x.to_sparse_csr().to_dense().mul(3).pow(2).sum().backward();
  CHECK(at::equal(x.grad(), x.detach() * 18));
  x.mutable_grad() = Tensor();
  x.to_sparse_csr().bmm(y).pow(2).sum().backward();
  CHECK(at::allclose(y.grad(), x.detach().transpose(1, 2).bmm(x.detach().bmm(y.detach())) * 2));
}

TEST_CASE("sparse parts and joins agree with PyTorch", "[sparse]") {
  CHECK(show(s.t()) == "coo [3, 2] at 2 2 0 2 1 0 1 1 are 1 3 4 4");
  CHECK(
      show(at::stack({c, t}).coalesce().permute({2, 0, 1}).coalesce()) ==
      "sorted [3, 2, 2] at 0 0 2 2 2 0 1 0 0 1 1 0 0 1 1 are 4 2 3 5 -1");
  CHECK(show(c.unsqueeze(1).coalesce()) == "sorted [2, 1, 3] at 0 1 1 0 0 0 2 0 2 are 3 4 5");
  CHECK(show(c[1].coalesce()) == "sorted [3] at 0 2 are 4 5");
  CHECK(show(c.select(1, -1).coalesce()) == "sorted [2] at 0 1 are 3 5");
  CHECK(show(h.coalesce()[2]) == "[2] 6 8");
  CHECK(show(c.index_select(1, indices({2, 0, 2})).coalesce()) == "sorted [2, 3] at 0 0 1 1 1 0 2 0 1 2 are 3 3 5 4 5");
  CHECK(show(c.narrow_copy(1, 1, 2).coalesce()) == "sorted [2, 2] at 0 1 1 1 are 3 5");
  CHECK(show(at::cat({c, t}, 1).coalesce()) == "sorted [2, 6] at 0 0 1 1 1 2 3 0 2 5 are 3 2 4 5 -1");
  CHECK(show(at::cat({h, h}, 1).coalesce()) == "sorted [3, 4] at 0 2 are 3 4 3 4 6 8 6 8");
  CHECK(show(at::stack({c, t}).coalesce()) == "sorted [2, 2, 3] at 0 0 0 1 1 0 1 1 0 1 2 0 2 0 2 are 3 4 5 2 -1");
  CHECK(show(r.t()) == "csc [3, 2] from 0 1 3 at 2 0 2 are 3 4 5");
  CHECK(show(r[1]) == "sorted [3] at 0 2 are 4 5");
}

TEST_CASE("diagonals and reducing products agree with PyTorch", "[sparse]") {
  const Tensor nine = at::arange(1.f, 10.f).view({3, 3});
  CHECK(
      show(at::_spdiags(nine, indices({0, -1, 2}), {3, 4})) == "coo [3, 4] at 0 1 2 1 2 0 0 1 2 0 1 2 are 1 2 3 4 5 9");
  CHECK(show(at::_spdiags(v, indices({1}), {3, 4}, at::kSparseCsr)) == "csr [3, 4] from 0 1 2 2 at 1 2 are 2 3");
  CHECK(show(at::_spdiags(v, indices({-5}), {3, 4})) == "sorted [3, 4] at  are ");
  CHECK_THROWS_MATCHES(
      at::_spdiags(nine, indices({0, 0, 1}), {3, 4}), c10::Error, Says("Offset tensor contains duplicate values"));

  const Tensor diagonals = at::ones({2, 3}).requires_grad_();
  const Tensor weights = at::arange(12.f).view({3, 4});
  at::_spdiags(diagonals, indices({0, -1}), {3, 4}).to_dense().mul(weights).sum().backward();
  CHECK(show(diagonals.grad()) == "[2, 3] 0 5 10 4 9 0");

  const Tensor q = at::tensor({1.f, 0.f, 2.f, 0.f, 0.f, 0.f, 3.f, 0.f, 0.f}).view({3, 3}).to_sparse_csr();
  const Tensor w = at::arange(6.f).view({3, 2}) - 2;
  CHECK(show(at::_sparse_mm(q, w, "sum")) == "[3, 2] 2 5 0 0 -6 -3");
  CHECK(show(at::_sparse_mm(q, w, "mean")) == "[3, 2] 1 2.5 0 0 -6 -3");
  CHECK(show(at::_sparse_mm(q, w, "amax")) == "[3, 2] 4 6 0 0 -6 -3");
  CHECK(show(at::_sparse_mm(q, w, "amin")) == "[3, 2] -2 -1 0 0 -6 -3");
  CHECK_THROWS_MATCHES(at::_sparse_mm(q, w, "prod"), c10::Error, Says("reduce type of prod has not been enabled"));
}

TEST_CASE("the gradient of gather may be sparse", "[sparse]") {
  const Tensor x = at::arange(6.).view({2, 3}).requires_grad_();
  const Tensor picked = x.gather(1, places({{0, 2}, {1, 1}}), /*sparse_grad=*/true);
  const Tensor grad = torch::autograd::grad({picked}, {x}, {at::tensor({1., 2., 3., 4.}).view({2, 2})})[0];
  CHECK(grad.layout() == at::kSparse);
  CHECK(show(grad.coalesce()) == "sorted [2, 3] at 0 0 1 0 2 1 are 1 2 7");
}

TEST_CASE("linear takes a sparse weight and rows of any strides", "[sparse]") {
  const Tensor weight = at::arange(12.f).view({3, 4}).fmod(5);
  const Tensor rows = at::arange(24.f).view({2, 3, 4});
  const Tensor bias = at::arange(3.f);
  for (const Tensor& x :
       {rows, rows.transpose(1, 2).contiguous().transpose(1, 2), rows.repeat({1, 1, 2}).slice(2, 0, 4)}) {
    CHECK(at::equal(at::linear(x, weight.to_sparse_csr()), at::linear(x, weight)));
    CHECK(at::equal(at::linear(x, weight.to_sparse_csr(), bias), at::linear(x, weight, bias)));
    CHECK(at::equal(at::matmul(x, weight.t().to_sparse()), at::matmul(x, weight.t())));
  }
}

TEST_CASE("native_norm is the norm of all elements of a sparse tensor", "[sparse]") {
  const Tensor x = at::eye(3).mul_(2).to_sparse();
  CHECK(at::native_norm(x, 1).item<float>() == 6);
  CHECK(at::native_norm(x, std::nullopt, {0, 1}, false, std::nullopt).item<float>() == Approx(std::sqrt(12.f)));
}
