// Optimizers with sparse gradients, against PyTorch's.
#include <catch2/catch.hpp>

#include <csrc/nn/modules/embedding.h>
#include <csrc/optim/adadelta.h>
#include <csrc/optim/adagrad.h>
#include <csrc/optim/adam.h>
#include <csrc/optim/lbfgs.h>
#include <csrc/optim/sgd.h>
#include <csrc/optim/sparse_adam.h>

#include "test/optim/expected.h"
#include "test/optim/support.h"
#include "test/support/matchers.h"

#include <cmath>
#include <functional>
#include <map>

using at::Tensor;
using namespace torch::optim;
using test::Says;

namespace {

using Params = std::vector<Tensor>;
using MakeSparse = std::function<std::unique_ptr<Optimizer>(const Params&)>;

template <class T, class Options>
MakeSparse make(Options options) {
  return [options](const Params& params) { return std::make_unique<T>(params, options); };
}

using Betas = std::tuple<double, double>;

/// Those of reference.py.
const std::map<std::string, MakeSparse>& sparse_optimizers() {
  static const std::map<std::string, MakeSparse> all = {
      {"sparse_adam", make<SparseAdam>(SparseAdamOptions(0.05))},
      {"sparse_adam_maximize",
       make<SparseAdam>(SparseAdamOptions(0.01).betas(Betas(0.8, 0.95)).eps(1e-4).maximize(true))},
      {"sgd", make<SGD>(SGDOptions(0.05))},
      {"sgd_momentum", make<SGD>(SGDOptions(0.02).momentum(0.9))},
      {"sgd_dampening", make<SGD>(SGDOptions(0.02).momentum(0.8).dampening(0.3).maximize(true))},
      {"sgd_nesterov", make<SGD>(SGDOptions(0.02).momentum(0.9).nesterov(true))},
      {"adagrad", make<Adagrad>(AdagradOptions(0.2))},
      {"adagrad_decay",
       make<Adagrad>(AdagradOptions(0.1).lr_decay(0.05).initial_accumulator_value(0.3).maximize(true))},
  };
  return all;
}

std::vector<double> train(const MakeSparse& make, at::ScalarType dtype) {
  using namespace torch::nn;
  Embedding table(EmbeddingOptions(7, 3).sparse(true));
  EmbeddingBag bags(EmbeddingBagOptions(5, 3).mode(torch::kSum).sparse(true));
  table->to(dtype);
  bags->to(dtype);
  {
    const at::NoGradGuard no_grad;
    table->weight.copy_(at::linspace(-1, 1.1, 21, at::kDouble).view({7, 3}));
    bags->weight.copy_(at::linspace(0.5, -0.7, 15, at::kDouble).view({5, 3}));
  }
  const Params params = {table->weight, bags->weight};
  const auto optimizer = make(params);
  for (int64_t i = 0; i < 20; ++i) {
    optimizer->zero_grad();
    const Tensor rows = table(torch::tensor({2 * i % 7, (3 * i + 1) % 7, i % 7, 2 * i % 7}));
    const Tensor sums = bags(torch::tensor({i % 5, (i + 1) % 5, 2 * i % 5, int64_t{3}}).view({2, 2}));
    (rows.square().sum() * 0.3 + rows.cos().sum() + sums.square().sum() * 0.2 + sums.sin().sum()).backward();
    REQUIRE(table->weight.grad().is_sparse());
    REQUIRE(bags->weight.grad().is_sparse());
    optimizer->step();
  }
  return test::numbers(params);
}

/// A parameter [4, 2] of ones with a gradient of ones in two rows, one of them twice.
Tensor parameter() {
  const Tensor p = at::ones({4, 2}).set_requires_grad(true);
  p.mutable_grad() = at::sparse_coo_tensor(torch::tensor({{1, 3, 1}}), at::ones({3, 2}), {4, 2});
  return p;
}

} // namespace

TEST_CASE("twenty steps with sparse gradients end where PyTorch's do", "[optim][sparse]") {
  for (const auto& [name, make] : sparse_optimizers()) {
    for (const bool wide : {true, false}) {
      const std::vector<double> got = train(make, wide ? at::kDouble : at::kFloat);
      const std::vector<double>& want = test::expected_sparse.at(name + (wide ? "/float64" : "/float32"));
      REQUIRE(got.size() == want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        INFO(name << ", element " << i << ": " << got[i] << ", PyTorch has " << want[i]);
        CHECK(std::abs(got[i] - want[i]) <= (wide ? 1e-9 : 2e-6) * std::max(1.0, std::abs(want[i])));
      }
    }
  }
}

TEST_CASE("a gradient may be sparse in one step and dense in the next", "[optim][sparse]") {
  for (const char* name : {"sgd", "sgd_momentum", "sgd_nesterov", "adagrad"}) {
    INFO(name);
    const Tensor mixed = parameter(), dense = at::ones({4, 2}).set_requires_grad(true);
    const auto first = sparse_optimizers().at(name)({mixed}), second = sparse_optimizers().at(name)({dense});
    for (int step = 0; step < 4; ++step) {
      const Tensor grad = parameter().grad() * (step + 1);
      mixed.mutable_grad() = step % 2 == 0 ? grad : grad.to_dense();
      dense.mutable_grad() = grad.to_dense();
      first->step();
      second->step();
    }
    CHECK(at::allclose(mixed, dense, 1e-6, 1e-7));
  }
}

TEST_CASE("SparseAdam touches the rows of the gradient and no others", "[optim][sparse]") {
  const Tensor p = parameter();
  SparseAdam optimizer({p}, SparseAdamOptions(0.1));
  optimizer.step();
  CHECK(p.select(0, 0).equal(at::ones({2})));
  CHECK(p.select(0, 2).equal(at::ones({2})));
  CHECK(at::allclose(p.select(0, 1), at::full({2}, 0.9)));
  p.mutable_grad() = at::sparse_coo_tensor(at::empty({1, 0}, at::kLong), at::empty({0, 2}), {4, 2});
  const Tensor before = p.detach().clone();
  optimizer.step();
  CHECK(p.equal(before));
  CHECK(static_cast<const SparseAdamParamState&>(*optimizer.state().begin()->second).step() == 2);
}

TEST_CASE("LBFGS takes sparse gradients as dense ones", "[optim][sparse]") {
  const Tensor a = parameter(), b = at::ones({4, 2}).set_requires_grad(true);
  const auto run = [](const Tensor& p, bool sparse) {
    LBFGS optimizer({p}, LBFGSOptions(0.1).max_iter(2));
    optimizer.step([&] {
      const Tensor grad = parameter().grad();
      p.mutable_grad() = sparse ? grad : grad.to_dense();
      return p.detach().sum();
    });
  };
  run(a, true);
  run(b, false);
  CHECK(at::allclose(a, b));
}

TEST_CASE("sparse gradients are refused in PyTorch's words where they cannot be taken", "[optim][sparse][errors]") {
  const Tensor p = parameter();
  const Tensor before = p.detach().clone();
  CHECK_THROWS_MATCHES(Adam({p}).step(), c10::Error, Says("Adam does not support sparse gradients"));
  CHECK_THROWS_MATCHES(Adadelta({p}).step(), c10::Error, Says("Adadelta does not support sparse gradients"));
  CHECK_THROWS_MATCHES(
      SGD({p}, SGDOptions(0.1).weight_decay(0.1)).step(), c10::Error,
      Says("weight_decay option is not compatible with sparse gradients"));
  CHECK_THROWS_MATCHES(
      Adagrad({p}, AdagradOptions(0.1).weight_decay(0.1)).step(), c10::Error,
      Says("weight_decay option is not compatible with sparse gradients"));
  CHECK(p.equal(before));
  const Tensor dense = at::ones({2}).set_requires_grad(true);
  dense.mutable_grad() = at::ones({2});
  CHECK_THROWS_MATCHES(
      SparseAdam({dense}).step(), c10::Error,
      Says("SparseAdam does not support dense gradients, please consider Adam instead"));
  CHECK_THROWS_MATCHES(SparseAdam({dense}, SparseAdamOptions(0)), c10::Error, Says("Invalid learning rate: 0"));
  CHECK_THROWS_MATCHES(SparseAdam({dense}, SparseAdamOptions().eps(-1)), c10::Error, Says("Invalid epsilon value: -1"));
  CHECK_THROWS_MATCHES(
      SparseAdam({dense}, SparseAdamOptions().betas(Betas(0.9, 1))), c10::Error,
      Says("Invalid beta parameter at index 1: 1"));
  const Tensor imaginary = at::ones({2}, at::kComplexFloat).set_requires_grad(true);
  CHECK_THROWS_MATCHES(
      SparseAdam({imaginary}), c10::Error,
      Says("Complex params at indices [[0, 0]]: SparseAdam does not support complex parameters"));
  const Tensor coordinates = at::ones({2, 2}).to_sparse().set_requires_grad(true);
  CHECK_THROWS_MATCHES(
      SparseAdam({coordinates}), c10::Error,
      Says("Sparse params at indices [[0, 0]]: SparseAdam requires dense parameter tensors"));
}
