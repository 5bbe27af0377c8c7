// Sparse tensors, samplers and ordered scatters on a GPU, each against the CPU.
#include "test/cuda/device/support.h"

#include <aten/core/Context.h>

#include <vector>

using test::kGpu;
using test::near;
using test::same_on_both;

namespace {

/// With places that are there twice.
at::Tensor coo(at::ScalarType dtype, at::IntArrayRef sizes, int64_t nnz) {
  std::vector<at::Tensor> rows;
  for (const int64_t size : sizes) {
    rows.push_back(at::randint(0, size, {nnz}, at::kLong));
  }
  return at::sparse_coo_tensor(at::stack(rows), at::randn({nnz}, dtype), sizes);
}

} // namespace

TEST_CASE("sparse tensors move between devices and convert there", "[cuda][sparse]") {
  torch::manual_seed(1);
  const at::Tensor a = coo(at::kFloat, {30, 20}, 200);
  const at::Tensor on_gpu = a.to(kGpu);
  CHECK(on_gpu.device() == kGpu);
  CHECK(on_gpu.key_set().has(c10::DispatchKey::SparseCUDA));
  CHECK(near(on_gpu.cpu().to_dense(), a.to_dense()));
  same_on_both(
      "coalesce", [&](at::Device d) { return a.to(d).coalesce().values(); }, 1e-4, 1e-5);
  same_on_both("places", [&](at::Device d) { return a.to(d).coalesce().indices(); });
  same_on_both(
      "to_dense", [&](at::Device d) { return a.to(d).to_dense(); }, 1e-4, 1e-5);
  same_on_both("csr", [&](at::Device d) { return a.to(d).to_sparse_csr().crow_indices(); });
  same_on_both(
      "bsr",
      [&](at::Device d) {
        return a.to_dense().to(d).to_sparse_bsr({3, 4}).to_dense();
      },
      1e-4, 1e-5);
  same_on_both(
      "made there",
      [&](at::Device d) {
        return at::sparse_coo_tensor(a._indices().to(d), a._values().to(d), {30, 20}).to_dense();
      },
      1e-4, 1e-5);
  const at::Tensor empty = at::sparse_coo_tensor({4, 5}, at::TensorOptions(at::kFloat).device(at::kCUDA));
  CHECK(empty.device().has_index());
  CHECK(empty._nnz() == 0);
  const at::Tensor values = on_gpu.coalesce().values();
  CHECK(at::equal(values, on_gpu.coalesce().values())); // in one order
}

TEST_CASE("products of sparse matrices", "[cuda][sparse]") {
  torch::manual_seed(2);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const at::Tensor a = coo(dtype, {60, 90}, 400), b = coo(dtype, {90, 40}, 300);
    const at::Tensor dense = at::randn({90, 40}, dtype), base = at::randn({60, 40}, dtype);
    const at::Tensor left = at::randn({60, 33}, dtype), right = at::randn({33, 90}, dtype);
    same_on_both(
        "mm", [&](at::Device d) { return at::mm(a.to(d), dense.to(d)); }, 1e-4, 1e-4);
    same_on_both(
        "addmm", [&](at::Device d) { return at::addmm(base.to(d), a.to(d), dense.to(d), 0.5, 2); }, 1e-4, 1e-4);
    same_on_both(
        "mv", [&](at::Device d) { return at::mv(a.to(d), dense.to(d).select(1, 0)); }, 1e-4, 1e-4);
    same_on_both(
        "csr mm", [&](at::Device d) { return at::mm(a.to_sparse_csr().to(d), dense.to(d)); }, 1e-4, 1e-4);
    same_on_both(
        "sparse by sparse", [&](at::Device d) { return at::mm(a.to(d), b.to(d)).to_dense(); }, 1e-4, 1e-4);
    same_on_both(
        "sampled_addmm",
        [&](at::Device d) {
          return at::sparse_sampled_addmm(a.to_sparse_csr().to(d), left.to(d), right.to(d), 0.5, 2).to_dense();
        },
        1e-4, 1e-4);
  }
}

TEST_CASE("embedding with sparse gradients trains on a GPU", "[cuda][sparse]") {
  same_on_both(
      "table after a step",
      [](at::Device d) {
        torch::manual_seed(3);
        torch::nn::Embedding table(torch::nn::EmbeddingOptions(20, 4).sparse(true));
        table->to(d);
        torch::optim::SGD optimizer(table->parameters(), 0.1);
        table(at::tensor({3, 7, 3, 0}, at::kLong).to(d)).pow(2).sum().backward();
        CHECK(table->weight.grad().is_sparse());
        optimizer.step();
        return table->weight.detach();
      },
      1e-4, 1e-5);
}

TEST_CASE("samplers of a GPU follow their distributions", "[cuda][random]") {
  torch::manual_seed(4);
  const auto rates = at::full({100000}, 7.0, at::TensorOptions(kGpu));
  CHECK(at::poisson(rates).mean().item<double>() == Approx(7).epsilon(0.02));
  CHECK(at::_standard_gamma(rates).var().item<double>() == Approx(7).epsilon(0.05));
  CHECK(at::binomial(rates + 13, at::full_like(rates, 0.25)).mean().item<double>() == Approx(5).epsilon(0.02));
  CHECK(at::_sample_dirichlet(rates.view({-1, 2})).mean().item<double>() == Approx(0.5).epsilon(0.01));
}

TEST_CASE("sums by index repeat to the bit with deterministic algorithms", "[cuda][deterministic]") {
  torch::manual_seed(5);
  const at::Tensor rows = at::randint(0, 50, {100000}, at::TensorOptions(at::kLong)).to(kGpu),
                   source = at::randn({100000, 3}).to(kGpu);
  at::globalContext().setDeterministicAlgorithms(true, false);
  const auto sum = [&] { return at::zeros({50, 3}, source.options()).index_add(0, rows, source); };
  const at::Tensor first = sum();
  for (int i = 0; i < 5; ++i) {
    CHECK(at::equal(sum(), first));
  }
  at::globalContext().setDeterministicAlgorithms(false, false);
}
