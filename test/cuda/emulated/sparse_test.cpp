// Operators of sparse tensors on the way that they go on CUDA, on CPU tensors, against the CPU's own loops.
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/native/cuda/sparse.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/native/sparse/product.h>

#include <aten/core/Context.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using at::Tensor;

namespace {

/// Sparse tensors on the CPU are treated as those of a device while this lives.
class AsOnDevice {
 public:
  AsOnDevice() {
    at::native::register_sparse_kernels(at::kCPU, &at::native::cuda::sparse_device_kernels());
  }
  ~AsOnDevice() {
    at::native::register_sparse_kernels(at::kCPU, nullptr);
  }
};

Tensor dense(const Tensor& t) {
  return t.layout() == at::kStrided ? t : t.to_dense();
}

/// f gives the same on both ways, places and values.
void check_same(const std::string& name, const std::function<Tensor()>& f) {
  INFO(name);
  const Tensor want = f();
  Tensor got;
  {
    const AsOnDevice device;
    got = f();
  }
  REQUIRE(got.layout() == want.layout());
  REQUIRE(got.sizes() == want.sizes());
  // Half is summed in float on devices.
  const double tolerance = want.scalar_type() == at::kHalf ? 1e-2 : 1e-4;
  CHECK(emulated::near(dense(got), dense(want), tolerance, tolerance));
  if (want.is_sparse() && want.is_coalesced()) {
    CHECK(got.is_coalesced());
    CHECK(at::equal(got._indices(), want._indices()));
  }
  if (want.is_sparse_csr()) {
    CHECK(at::equal(got.crow_indices(), want.crow_indices()));
    CHECK(at::equal(got.col_indices(), want.col_indices()));
  }
}

Tensor values_of(at::ScalarType dtype, at::IntArrayRef sizes) {
  return at::isFloatingType(dtype) || at::isComplexType(dtype) ? at::randn(sizes, dtype)
                                                               : at::randint(0, 5, sizes).to(dtype);
}

/// With places that are there twice.
Tensor coo(at::ScalarType dtype, at::IntArrayRef sizes, int64_t nnz, int64_t dense_dim = 0) {
  std::vector<Tensor> rows;
  const auto sparse_dim = static_cast<int64_t>(sizes.size()) - dense_dim;
  for (int64_t d = 0; d < sparse_dim; ++d) {
    rows.push_back(at::randint(0, sizes[d], {nnz}, at::kLong));
  }
  std::vector<int64_t> value_sizes = {nnz};
  value_sizes.insert(value_sizes.end(), sizes.begin() + sparse_dim, sizes.end());
  return at::sparse_coo_tensor(at::stack(rows), values_of(dtype, value_sizes), sizes);
}

} // namespace

TEST_CASE("sparse tensors on CUDA: coalescing and conversions", "[cuda][sparse]") {
  torch::manual_seed(3);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kLong, at::kBool, at::kComplexFloat}) {
    for (const int64_t dense_dim : {0, 1}) {
      const std::vector<int64_t> sizes = {6, 7, 3};
      for (const int64_t nnz : {0, 1, 40}) {
        const Tensor x = coo(dtype, sizes, nnz, dense_dim);
        check_same("coalesce", [&] { return x.coalesce(); });
        check_same("to_dense", [&] { return x.to_dense(); });
        check_same("add to strided", [&] { return at::add(at::ones(sizes, dtype), x); });
        check_same(
            "sum over a sparse dimension", [&] { return nnz == 0 ? x : at::_sparse_sum(x, at::IntArrayRef{1}); });
        check_same("transpose", [&] { return x.transpose(0, 1).coalesce(); });
        check_same("index_select", [&] { return x.index_select(0, at::tensor({3, 0, 3})); });
        check_same("cat", [&] { return at::cat({x, x}, 0).coalesce(); });
      }
    }
    const Tensor strided = values_of(dtype, {5, 8}) * at::randint(0, 2, {5, 8}).to(dtype);
    check_same("to_sparse", [&] { return strided.to_sparse(); });
    check_same("to_sparse_csr", [&] { return strided.to_sparse_csr(); });
    check_same("to_sparse_csc", [&] { return strided.to_sparse_csc(); });
    check_same("to_sparse_bsr", [&] { return strided.view({4, 10}).to_sparse_bsr({2, 5}); });
    check_same("csr to dense", [&] { return strided.to_sparse_csr().to_dense(); });
    check_same("batch", [&] { return at::stack({strided, strided}).to_sparse_csr().to_dense(); });
    const Tensor mask = coo(at::kFloat, {5, 8}, 9).coalesce();
    check_same("sparse_mask", [&] { return strided.sparse_mask(mask).coalesce(); });
  }
}

TEST_CASE("sparse tensors on CUDA: arithmetic and softmax", "[cuda][sparse]") {
  torch::manual_seed(4);
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const Tensor a = coo(dtype, {9, 5}, 30), b = coo(dtype, {9, 5}, 20), none = coo(dtype, {9, 5}, 0);
    check_same("add", [&] { return at::add(a, b, 2).coalesce(); });
    check_same("sub", [&] { return at::sub(a.coalesce(), b.coalesce()).coalesce(); });
    check_same("mul", [&] { return at::mul(a, b); });
    check_same("mul by nothing", [&] { return at::mul(a, none); });
    check_same("mul by strided", [&] { return at::mul(a, at::arange(5, dtype)); });
    check_same("mask of sparse", [&] { return a.coalesce().sparse_mask(b.coalesce()); });
    check_same("sin", [&] { return at::sin(a); });
    check_same("softmax", [&] { return at::_sparse_softmax(a, 1); });
    check_same("csr add", [&] { return at::add(a.to_sparse_csr(), b.to_sparse_csr()); });
    check_same("csr mul", [&] { return at::mul(a.to_sparse_csr(), b.to_sparse_csr()); });
    check_same(
        "csr sum", [&] { return at::_sparse_csr_sum(a.to_sparse_csr(), at::IntArrayRef{1}, true, std::nullopt); });
  }
}

TEST_CASE("sparse by sparse, some rows at once", "[cuda][sparse]") {
  torch::manual_seed(8);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexDouble, at::kLong}) {
    const Tensor a = coo(at::kDouble, {16, 9}, 40).to(dtype).coalesce(),
                 b = coo(at::kDouble, {9, 7}, 20).to(dtype).coalesce();
    const Tensor wanted = at::mm(a.to_dense(), b.to_dense());
    for (const int64_t most : {1, 5, 17, 1000}) { // a row each, some rows, all rows
      const Tensor product = at::native::product_by_terms(a, b, most);
      CHECK(product.is_coalesced());
      CHECK(emulated::near(product.to_dense(), wanted));
      CHECK(emulated::near(
          at::sparse_coo_tensor(product.indices(), product.values(), product.sizes()).coalesce().indices(),
          product.indices()));
    }
  }
  const Tensor none = coo(at::kDouble, {16, 9}, 0).coalesce();
  CHECK(at::native::product_by_terms(none, coo(at::kDouble, {9, 7}, 20).coalesce(), 1)._nnz() == 0);
}

TEST_CASE("sparse tensors on CUDA: products by cuSPARSE", "[cuda][sparse]") {
  torch::manual_seed(5);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const Tensor a = coo(dtype, {6, 9}, 25), other = coo(dtype, {9, 4}, 20), b = values_of(dtype, {9, 4}),
                 c = values_of(dtype, {6, 4});
    check_same("mm", [&] { return at::mm(a, b); });
    check_same("mm without elements", [&] { return at::mm(coo(dtype, {6, 9}, 0), b); });
    check_same("mm by strided", [&] { return at::mm(b.t(), a.t()); });
    check_same("addmm", [&] { return at::addmm(c, a, b, 0.5, 2); });
    check_same("mv", [&] { return at::mv(a, b.select(1, 0)); });
    check_same("sparse by sparse", [&] { return at::mm(a, other); });
    const Tensor batch = coo(dtype, {3, 6, 9}, 50), right = values_of(dtype, {3, 9, 4});
    check_same("bmm", [&] { return at::bmm(batch, right); });
    check_same("hspmm", [&] { return at::hspmm(a, b).coalesce(); });
    const Tensor csr = a.to_sparse_csr();
    check_same("csr mm", [&] { return at::mm(csr, b); });
    check_same("csc mm", [&] { return at::mm(a.to_sparse_csc(), b); });
    check_same("csr by csr", [&] { return at::mm(csr, other.to_sparse_csr()); });
    check_same("csr addmm", [&] { return at::addmm(c, csr, b, 0.25, 3); });
    const Tensor left = values_of(dtype, {6, 7}), middle = values_of(dtype, {7, 9});
    check_same("sampled_addmm", [&] { return at::sparse_sampled_addmm(csr, left, middle, 0.5, 2); });
  }
  const Tensor half = coo(at::kHalf, {6, 9}, 25);
  check_same("half", [&] { return at::mm(half, at::ones({9, 4}, at::kHalf)); });
  CHECK(emulated::libraries().sparse_descriptors == 0);
  const AsOnDevice device;
  CHECK_THROWS_WITH(
      at::mm(coo(at::kLong, {6, 9}, 25), at::ones({9, 4}, at::kLong)), Catch::Contains("addmm_sparse_cuda"));
  const Tensor outside = at::_sparse_coo_tensor_unsafe(at::tensor({0, 7, 0, 1}).view({2, 2}), at::ones({2}), {6, 9});
  CHECK_THROWS_WITH(outside.to_dense(), Catch::Contains("has an element outside of them"));
  CHECK_THROWS_WITH(at::mm(outside, at::ones({9, 4})), Catch::Contains("cannot have an element in number 7"));
}

TEST_CASE("sparse products on CUDA add in one order with deterministic algorithms", "[cuda][sparse]") {
  torch::manual_seed(7);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const Tensor a = coo(dtype, {6, 9}, 25), b = values_of(dtype, {9, 4}), c = values_of(dtype, {6, 4});
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
    check_same("addmm in order", [&] { return at::addmm(c, a, b, 0.5, 2); });
    check_same("csr mm in order", [&] { return at::mm(a.to_sparse_csr(), b); });
    at::globalContext().setDeterministicAlgorithms(false, false);
  }
  CHECK(emulated::libraries().sparse_descriptors == 0);
}

TEST_CASE("gradients of sparse products on CUDA", "[cuda][sparse]") {
  torch::manual_seed(6);
  const Tensor a = coo(at::kDouble, {6, 9}, 25).coalesce(), b = at::randn({9, 4}, at::kDouble);
  check_same("gradient of the strided factor", [&] {
    const Tensor x = b.clone().requires_grad_();
    at::mm(a, x).pow(2).sum().backward();
    return x.grad();
  });
  check_same("gradient of the values", [&] {
    const Tensor values = a.values().clone().requires_grad_();
    const Tensor x = at::sparse_coo_tensor(a.indices(), values, a.sizes());
    at::_sparse_mm(x, b).pow(2).sum().backward();
    return values.grad();
  });
}
