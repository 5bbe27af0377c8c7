// Making sparse tensors, their parts, and what is refused.
#include "support.h"

#include <ATen/SparseTensorUtils.h>

#include <limits>

using namespace sparse_test;

TEST_CASE("a sparse tensor tells what it is", "[sparse]") {
  const Tensor s = coo({{0, 1, 1}, {2, 0, 2}}, at::ones({3, 4}), {2, 3, 4});
  CHECK(s.is_sparse());
  CHECK(s.layout() == at::kSparse);
  CHECK(s.key_set().has(c10::DispatchKey::SparseCPU));
  CHECK(s.dim() == 3);
  CHECK(s.sparse_dim() == 2);
  CHECK(s.dense_dim() == 1);
  CHECK(s._nnz() == 3);
  CHECK(s.numel() == 24);
  CHECK_FALSE(s.is_coalesced());
  CHECK(s.coalesce().is_coalesced());
  CHECK_FALSE(s.is_contiguous());
  CHECK(s.strides() == at::IntArrayRef({0, 0, 0}));
  CHECK(s.toString() == "SparseCPUFloatType");
  CHECK(at::sparse::get_sparse_impl(s)->nnz() == 3);
  CHECK(at::ones({2}).sparse_dim() == 0);
  CHECK(at::ones({2}).dense_dim() == 1);
}

TEST_CASE("the size of a sparse tensor is found from its places", "[sparse]") {
  CHECK(at::sparse_coo_tensor(places({{0, 4}, {1, 0}}), at::ones({2, 3})).sizes() == at::IntArrayRef({5, 2, 3}));
  CHECK(at::sparse_coo_tensor(at::empty({2, 0}, at::kLong), at::ones({0, 3})).sizes() == at::IntArrayRef({0, 0, 3}));
  CHECK(at::sparse_coo_tensor({2, 3}, at::TensorOptions(at::kInt))._nnz() == 0);
  CHECK(at::empty({2, 3}, at::TensorOptions().layout(at::kSparse)).is_coalesced());
  CHECK(at::zeros({2, 3}, at::TensorOptions().layout(at::kSparseCsr)).crow_indices().numel() == 3);
}

TEST_CASE("members of a sparse tensor share its memory", "[sparse]") {
  const Tensor values = at::ones({2});
  const Tensor s = coo({{0, 1}}, values, {3});
  values.fill_(5);
  CHECK(show(s) == "coo [3] at 0 1 are 5 5");
  s._values().mul_(2);
  CHECK(show(s) == "coo [3] at 0 1 are 10 10");
  CHECK_FALSE(s._values().requires_grad());
}

TEST_CASE("whether a sparse tensor is in pinned memory is asked of its values", "[sparse]") {
  for (const at::Layout layout : {at::kSparse, at::kSparseCsr, at::kSparseCsc}) {
    CHECK_FALSE(at::zeros({2, 3}, at::TensorOptions().layout(layout)).is_pinned());
    CHECK_FALSE(at::eye(3).to_sparse(layout).is_pinned());
  }
  CHECK_FALSE(at::eye(4).to_sparse(at::kSparseBsr, at::IntArrayRef({2, 2})).is_pinned());
}

TEST_CASE("bad members are refused", "[sparse]") {
  const Tensor i = places({{0, 1, 1}, {2, 0, 2}});
  const Tensor v = at::ones({3});
  const auto made = [](const Tensor& where, const Tensor& values, std::vector<int64_t> size) {
    return [=] { at::sparse_coo_tensor(where, values, size); };
  };
  CHECK_THROWS_MATCHES(
      made(places({{0, 5}}), at::ones({2}), {3})(), c10::Error,
      Says("size is inconsistent with indices: for dim 0, size is 3 but found index 5"));
  CHECK_THROWS_MATCHES(
      made(places({{0, -1}}), at::ones({2}), {3})(), c10::Error, Says("found negative index -1 for dim 0"));
  CHECK_THROWS_MATCHES(
      made(i, at::ones({2}), {2, 3})(), c10::Error,
      Says("indices and values must have same nnz, but got nnz from indices: 3, nnz from values: 2"));
  CHECK_THROWS_MATCHES(
      made(i, v, {2, 3, 4})(), c10::Error,
      Says("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = 3, sparse_dim = 2, dense_dim = 0"));
  CHECK_THROWS_MATCHES(made(i[0], v, {2, 3})(), c10::Error, Says("indices must be sparse_dim x nnz, but got: [3]"));
  CHECK_THROWS_MATCHES(
      made(i, at::ones({3, 4}), {2, 3, 5})(), c10::Error,
      Says("values has incorrect size, expected [3, 5], got [3, 4]"));
  CHECK_THROWS_MATCHES(made(at::empty({1, 0}, at::kLong), at::ones({0}), {-3})(), c10::Error, Says("negative size"));
  CHECK_THROWS_MATCHES(made(i.to(at::kFloat), v, {2, 3})(), c10::Error, Says("indices must be an integral tensor"));
  CHECK_THROWS_AS(at::sparse_coo_tensor({-2}, at::TensorOptions()), c10::Error);
  CHECK_THROWS_AS(at::sparse_coo_tensor({int64_t{1} << 40, int64_t{1} << 40}, at::TensorOptions()), c10::Error);
  CHECK_THROWS_MATCHES(
      at::_validate_sparse_coo_tensor_args(i.flip(1), v, {2, 3}, true), c10::Error,
      Says("cannot set is_coalesced to true"));
}

TEST_CASE("bad compressed members are refused", "[sparse]") {
  const auto crow = indices({0, 1, 3});
  const auto col = indices({2, 0, 2});
  const Tensor v = at::ones({3});
  const auto says = [&](const Tensor& a, const Tensor& b, const Tensor& values, std::vector<int64_t> size,
                        const char* text) {
    CHECK_THROWS_MATCHES(at::sparse_csr_tensor(a, b, values, size, at::TensorOptions()), c10::Error, Says(text));
  };
  says(crow, indices({2, 0, 5}), v, {2, 3}, "`0 <= col_indices < ncols` is not satisfied.");
  says(
      crow, indices({2, 2, 0}), v, {2, 3},
      "are sorted and distinct along the last dimension values` is not satisfied.");
  says(indices({1, 2, 3}), col, v, {2, 3}, "`crow_indices[..., 0] == 0` is not satisfied.");
  says(indices({0, 1, 2}), col, v, {2, 3}, "`crow_indices[..., -1] == nnz` is not satisfied.");
  says(
      indices({0, 3}), col, v, {2, 3},
      "crow_indices.shape[-1] must be equal to the number of rows + 1 (=3), but got 2");
  says(crow, col, at::ones({2}), {2, 3}, "col_indices.shape[-1] must be equal to nnz (=2)");
  says(crow, col.to(at::kInt), v, {2, 3}, "crow_indices and col_indices must have the same dtype");
  says(crow.to(at::kFloat), col.to(at::kFloat), v, {2, 3}, "dtype must be Int or Long, but got Float");
  says(crow, col, v, {2}, "tensor dimensionality must be sum of batch, base, and dense dimensionalities");
  const Tensor csr = at::sparse_csr_tensor(crow.to(at::kInt), col.to(at::kInt), v, {2, 3}, at::TensorOptions());
  CHECK(csr.is_sparse_csr());
  CHECK(csr.crow_indices().scalar_type() == at::kInt);
  CHECK_THROWS_MATCHES(csr.strides(), c10::Error, Says("do not have strides"));
  CHECK_THROWS_MATCHES(
      csr.ccol_indices(), c10::Error,
      Says("ccol_indices expected sparse column compressed tensor layout but got SparseCsr"));
  CHECK_THROWS_MATCHES(
      at::sparse_bsr_tensor(indices({0, 1, 2}), indices({0, 1}), at::ones({2, 2, 3}), {5, 6}, at::TensorOptions()),
      c10::Error, Says("tensor shape[0] (=5) must be divisible with blocksize[0] (=2)"));
}

TEST_CASE("a compressed tensor is made from its sizes and its number of elements", "[sparse]") {
  const auto made = [](int64_t nnz, int64_t dense_dim, at::IntArrayRef size, at::IntArrayRef blocks,
                       at::Layout layout) {
    return show(
        at::_sparse_compressed_tensor_with_dims(nnz, dense_dim, size, blocks, at::kInt, at::TensorOptions(layout)));
  };
  CHECK(made(6, 0, {3, 4}, {}, at::kSparseCsr) == "csr [3, 4] from 0 4 6 6 at 0 1 2 3 0 1 are 0 0 0 0 0 0");
  CHECK(made(4, 0, {3, 4}, {}, at::kSparseCsc) == "csc [3, 4] from 0 3 4 4 4 at 0 1 2 0 are 0 0 0 0");
  CHECK(made(0, 0, {0, 4}, {}, at::kSparseCsr) == "csr [0, 4] from 0 at  are ");
  CHECK(made(0, 0, {2, 0}, {}, at::kSparseCsr) == "csr [2, 0] from 0 0 0 at  are ");
  CHECK(made(1, 1, {2, 2, 2, 3}, {}, at::kSparseCsr) == "csr [2, 2, 2, 3] from 0 1 1 0 1 1 at 0 0 are 0 0 0 0 0 0");
  const Tensor blocks = at::_sparse_compressed_tensor_with_dims(
      2, 0, {2, 4, 6}, {2, 3}, at::kLong, at::TensorOptions(at::kSparseBsr).dtype(at::kDouble));
  CHECK(blocks.values().sizes() == at::IntArrayRef({2, 2, 2, 3}));
  CHECK(blocks.scalar_type() == at::kDouble);
  CHECK(blocks.crow_indices().scalar_type() == at::kLong);
}

TEST_CASE("a place outside of the tensor that nobody checked is an error where it is used", "[sparse]") {
  const Tensor bad = at::_sparse_coo_tensor_unsafe(places({{0, 7}, {9, 0}}), at::ones({2}), {2, 3});
  CHECK_THROWS_AS(bad.to_dense(), c10::Error);
  CHECK_THROWS_AS(bad.coalesce(), c10::Error);
  CHECK_THROWS_AS(bad.mm(at::ones({3, 2})), c10::Error);
  CHECK_THROWS_AS(at::ones({2, 2}).mm(bad), c10::Error);
  CHECK_THROWS_AS(bad * at::ones({2, 3}), c10::Error);
  CHECK_THROWS_AS(at::ones({2, 3}).add_(bad), c10::Error);
  CHECK_THROWS_AS(at::ones({2, 3}).sparse_mask(bad), c10::Error);
  CHECK_THROWS_AS(bad.to_sparse_csr(), c10::Error);
  CHECK_THROWS_AS(bad.sum(0), c10::Error);
  const Tensor csr = at::eye(3).to_sparse_csr();
  csr.col_indices().fill_(100);
  CHECK_THROWS_AS(csr.to_dense(), c10::Error);
  CHECK_THROWS_AS(csr.mm(at::ones({3, 2})), c10::Error);
  const Tensor rows = at::eye(3).to_sparse_csr();
  rows.crow_indices().select(0, 1).fill_(50);
  CHECK_THROWS_AS(rows.mm(at::ones({3, 2})), c10::Error);
}

TEST_CASE("the numbers of places must fit 64 bits", "[sparse]") {
  const int64_t big = int64_t{1} << 31;
  const Tensor s = coo({{5, 5}, {7, 7}}, at::ones({2}), {big, big});
  CHECK(show(s.coalesce()) == "sorted [2147483648, 2147483648] at 5 7 are 2");
  CHECK(show(s + s) == "coo [2147483648, 2147483648] at 5 5 7 7 are 2 2");
  CHECK_THROWS_AS(at::sparse_coo_tensor(places({{0}, {0}, {0}}), at::ones({1}), {big, big, big}), c10::Error);
}

TEST_CASE("coalescing adds up what is at one place, in every dtype", "[sparse]") {
  for (const at::ScalarType dtype :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat,
        at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const Tensor s = coo({{1, 0, 1}}, at::ones({3}).to(dtype), {3}).coalesce();
    INFO(dtype);
    CHECK(s.scalar_type() == dtype);
    CHECK(s._nnz() == 2);
    CHECK(s.to_dense().to(at::kDouble).equal(at::tensor({1., dtype == at::kBool ? 1. : 2., 0.})));
  }
}

TEST_CASE("a sparse tensor is resized and emptied", "[sparse]") {
  const Tensor s = coo({{0, 1}, {2, 0}}, at::ones({2}), {2, 3}).coalesce();
  s.sparse_resize_({4, 3}, 2, 0);
  CHECK(show(s) == "sorted [4, 3] at 0 1 2 0 are 1 1");
  CHECK_THROWS_MATCHES(
      s.sparse_resize_({1, 3}, 2, 0), c10::Error,
      Says("shrinking the size of sparse dimensions (from [4, 3] to [1, 3]) on a non-empty sparse tensor is not "
           "supported."));
  CHECK_THROWS_MATCHES(
      s.sparse_resize_({4, 3}, 1, 1), c10::Error,
      Says("changing the number of sparse dimensions (from 2 to 1) on a non-empty sparse tensor is not supported."));
  s.sparse_resize_and_clear_({5, 2}, 1, 1);
  CHECK(s.dense_dim() == 1);
  CHECK(s._nnz() == 0);
  s.zero_();
  CHECK(s.sizes() == at::IntArrayRef({5, 2}));
}

TEST_CASE("operators that would take a sparse tensor for a strided one refuse it", "[sparse]") {
  Tensor s = at::eye(2).to_sparse();
  CHECK_THROWS_AS(s.fill_(1), c10::NotImplementedError);
  CHECK_THROWS_AS(s.resize_({3}), c10::NotImplementedError);
  CHECK_THROWS_AS(s.squeeze_(), c10::NotImplementedError);
  CHECK_THROWS_AS(s.view({4}), c10::Error);
  CHECK_THROWS_AS(s.expand({2, 2, 2}), c10::Error);
  CHECK_THROWS_AS(s.as_strided({1}, {1}), c10::Error);
  CHECK_THROWS_AS(s.exp(), c10::Error);
  CHECK_THROWS_AS(s.data_ptr(), c10::Error);
  CHECK_THROWS_AS(s.storage(), c10::Error);
  CHECK_THROWS_MATCHES(
      s.copy_(at::ones({2, 2})), c10::Error, Says("copy_() between dense and sparse Tensors is not implemented!"));
  CHECK_THROWS_MATCHES(
      s + at::ones({2, 2}), c10::Error, Says("add(sparse, dense) is not supported. Use add(dense, sparse) instead."));
  CHECK_THROWS_MATCHES(
      s / at::ones({2, 2}), c10::Error,
      Says("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape [2, 2] for divisor)"));
  CHECK_THROWS_MATCHES(s.pow(0), c10::Error, Says("pow: cannot raise to zeroth power on sparse tensor"));
  Tensor u = coo({{0, 0}}, at::ones({2}), {2});
  CHECK_THROWS_MATCHES(u.sin_(), c10::Error, Says("sin_ requires coalesced input"));
  CHECK_THROWS_MATCHES(
      u.indices(), c10::Error, Says("Cannot get indices on an uncoalesced tensor, please call .coalesce() first"));
  CHECK_THROWS_MATCHES(
      at::ones({2}).coalesce(), c10::Error, Says("coalesce expected sparse coordinate tensor layout but got Strided"));
  CHECK_THROWS_MATCHES(
      at::ones({2}).values(), c10::Error, Says("values expected sparse tensor layout but got Strided"));
}

TEST_CASE("in-place and out forms of sparse operators write where they should", "[sparse]") {
  Tensor s = coo({{0, 1}, {2, 0}}, at::ones({2}), {2, 3}).coalesce();
  Tensor dense = at::ones({2, 3});
  dense.add_(s, 2);
  CHECK(show(dense) == "[2, 3] 1 1 3 3 1 1");
  Tensor turned = at::ones({3, 2}).t();
  turned.sub_(s);
  CHECK(show(turned) == "[2, 3] 1 1 0 0 1 1");
  s.mul_(3);
  CHECK(show(s) == "sorted [2, 3] at 0 1 2 0 are 3 3");
  s.add_(s);
  CHECK(show(s) == "sorted [2, 3] at 0 1 2 0 are 6 6");
  s.neg_();
  Tensor out = at::sparse_coo_tensor({0}, at::TensorOptions(at::kDouble));
  at::abs_out(out, s);
  CHECK(out.scalar_type() == at::kDouble);
  CHECK(show(out) == "sorted [2, 3] at 0 1 2 0 are 6 6");
  Tensor product = at::empty({0});
  at::mm_out(product, s, at::ones({3, 1}));
  CHECK(show(product) == "[2, 1] -6 -6");
  Tensor copy = at::sparse_coo_tensor({2, 3}, at::TensorOptions(at::kInt));
  copy.copy_(s);
  CHECK(show(copy) == "sorted [2, 3] at 0 1 2 0 are -6 -6");
  CHECK_THROWS_AS(at::abs_out(dense, s), c10::Error);
}

TEST_CASE("sparse tensors are printed by their members", "[sparse]") {
  std::ostringstream text;
  text << coo({{0, 1}, {2, 0}}, at::tensor({3.f, 4.f}), {2, 3});
  CHECK(
      text.str() ==
      "[ SparseCPUFloatType{}\nindices:\n 0  1\n 2  0\n[ CPULongType{2,2} ]\nvalues:\n 3\n 4\n[ CPUFloatType{2} "
      "]\nsize:\n[2, 3]\n]");
}

TEST_CASE("torch:: factories make sparse leaves", "[sparse]") {
  const Tensor s = torch::sparse_coo_tensor(places({{0, 1}}), torch::ones({2}), {3}, torch::requires_grad());
  CHECK(s.requires_grad());
  CHECK(s.is_leaf());
  const Tensor r = torch::sparse_csr_tensor(
      indices({0, 1, 2}), indices({0, 1}), torch::ones({2}), {2, 2}, torch::dtype(torch::kDouble));
  CHECK(r.scalar_type() == torch::kDouble);
  CHECK_THROWS_AS(torch::sparse_coo_tensor({2}, torch::TensorOptions().layout(torch::kStrided)), c10::Error);
}
