// orthogonal: every map and shape stays orthogonal, begins where it should, is copied and saved; CachedGuard; bad
// input.
#include <torch/nn/utils/parametrizations.h>
#include <torch/nn/utils/parametrize.h>
#include <torch/torch.h>

#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "test/support/matchers.h"

using namespace torch;
namespace P = torch::nn::utils::parametrizations;
namespace parametrize = torch::nn::utils::parametrize;
using P::OrthogonalMap;
using test::Says;

namespace {

/// A matrix, or a batch, of a program.
struct TableImpl : nn::Cloneable<TableImpl> {
  explicit TableImpl(Tensor value) : value_(std::move(value)) {
    TableImpl::reset();
  }
  void reset() override {
    table = register_parameter("table", value_.clone());
  }
  Tensor forward() {
    return table * 1;
  }
  Tensor table;

 private:
  Tensor value_;
};
TORCH_MODULE(Table);

/// How far the columns, or the rows if these are fewer, are from orthonormal ones.
double distance_from_orthonormal(const Tensor& matrix) {
  const Tensor q = matrix.detach().size(-2) >= matrix.size(-1) ? matrix.detach() : matrix.detach().mH();
  return (q.mH().matmul(q) - torch::eye(q.size(-1), q.options())).abs().max().item<double>();
}

/// Counts how often it computes.
struct CountingImpl : nn::Cloneable<CountingImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    ++calls;
    return 2 * x;
  }
  int calls = 0;
};
TORCH_MODULE(Counting);

} // namespace

TEST_CASE("orthogonal weights stay orthogonal in training", "[nn][norms]") {
  torch::manual_seed(3);
  for (const ScalarType dtype : {kDouble, torch::kComplexDouble}) {
    for (const std::vector<int64_t>& sizes :
         std::vector<std::vector<int64_t>>{{4, 4}, {5, 3}, {3, 5}, {2, 4, 3}, {1, 1}, {0, 0}, {3, 0}, {2, 0, 3, 3}}) {
      for (const auto map : {OrthogonalMap::kMatrixExp, OrthogonalMap::kCayley, OrthogonalMap::kHouseholder}) {
        for (const bool trivial : {true, false}) {
          if (map == OrthogonalMap::kHouseholder && dtype == torch::kComplexDouble) {
            continue;
          }
          INFO(
              "sizes " << IntArrayRef(sizes) << ", map " << static_cast<int>(map) << ", trivialization " << trivial
                       << ", " << dtype);
          Table table(torch::randn(sizes, dtype));
          P::orthogonal(table, "table", map, trivial);
          REQUIRE(table().sizes() == IntArrayRef(sizes));
          optim::SGD optimizer(table->parameters(), optim::SGDOptions(0.1));
          const Tensor wanted = torch::randn(sizes, dtype);
          std::optional<double> before;
          for (int step = 0; step < 3; ++step) {
            optimizer.zero_grad();
            const Tensor loss = (table() - wanted).abs().square().sum();
            if (loss.numel() == 0 || wanted.numel() == 0) {
              break;
            }
            CHECK(distance_from_orthonormal(table->table) < 1e-12);
            loss.backward();
            optimizer.step();
            before = before.value_or(loss.item<double>());
          }
          if (before && wanted.numel() > 1) {
            CHECK((table() - wanted).abs().square().sum().item<double>() < *before);
          }
        }
      }
    }
  }
}

TEST_CASE("an orthogonal tensor keeps its value when it becomes a parametrized one", "[nn][norms]") {
  torch::manual_seed(4);
  for (const auto map : {OrthogonalMap::kMatrixExp, OrthogonalMap::kCayley, OrthogonalMap::kHouseholder}) {
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{4, 4}, {2, 3, 3}, {5, 3}, {3, 5}}) {
      INFO("sizes " << IntArrayRef(sizes) << ", map " << static_cast<int>(map));
      Tensor start = torch::randn(sizes, kDouble);
      start = sizes[sizes.size() - 2] >= sizes.back() ? std::get<0>(torch::linalg_qr(start))
                                                      : std::get<0>(torch::linalg_qr(start.mT())).mT();
      Table table(start);
      P::orthogonal(table, "table", map);
      CHECK(at::allclose(table().detach(), start, 0, 1e-12));
      parametrize::remove_parametrizations(table, "table");
      CHECK(at::allclose(table->table.detach(), start, 0, 1e-12));
      CHECK(table->table.is_leaf());
      if (map == OrthogonalMap::kHouseholder) {
        P::orthogonal(table, "table", map, /*use_trivialization=*/false);
        CHECK(table->buffers().empty());
        CHECK(at::allclose(table().detach(), start, 0, 1e-12));
      }
    }
  }
}

TEST_CASE("orthogonal layers are copied, saved and read", "[nn][norms]") {
  nn::Linear layer = P::orthogonal(nn::Linear(4, 3));
  const Tensor x = torch::rand({2, 4}), before = layer(x).detach();
  const auto copy = std::dynamic_pointer_cast<nn::LinearImpl>(layer->clone());
  CHECK(copy->named_buffers().keys() == std::vector<std::string>{"parametrizations.weight.0.base"});
  nn::Linear copied(copy);
  CHECK(at::allclose(copied(x), before));
  std::stringstream file;
  torch::save(layer, file);
  nn::Linear other = P::orthogonal(nn::Linear(4, 3));
  CHECK_FALSE(at::allclose(other(x), before));
  torch::load(other, file);
  CHECK(at::allclose(other(x), before));
}

TEST_CASE("a further parametrization by an orthogonal map begins at the map's value", "[nn][norms]") {
  nn::Linear layer(3, 3);
  parametrize::register_parametrization(layer, "weight", Counting());
  P::orthogonal(layer); // has never had a right_inverse, so there is no base
  const Tensor lower = 2 * layer->named_parameters()["parametrizations.weight.original"].detach().tril();
  layer(torch::ones({1, 3}));
  CHECK(at::allclose(layer->weight.detach(), torch::matrix_exp(lower - lower.mT()), 1e-5, 1e-6));
}

TEST_CASE("under a CachedGuard a parametrized tensor is computed once", "[nn][norms]") {
  nn::Linear layer(3, 2);
  const Counting counting;
  parametrize::register_parametrization(layer, "weight", counting);
  const Tensor x = torch::ones({1, 3}), original = layer->named_parameters()["parametrizations.weight.original"];
  const auto calls_of = [&](int times) {
    const int before = counting->calls;
    for (int i = 0; i < times; ++i) {
      layer(x);
    }
    return counting->calls - before;
  };
  CHECK(calls_of(3) == 3);
  {
    const parametrize::CachedGuard cached;
    CHECK(calls_of(3) == 1);
    {
      const parametrize::CachedGuard inner;
      CHECK(calls_of(2) == 0);
    }
    CHECK(calls_of(2) == 0);
    const Tensor sum = layer(x).sum() + layer(2 * x).sum();
    sum.backward(); // through one graph of the weight
    CHECK(at::allclose(original.grad(), torch::full({2, 3}, 6.)));
    // Another thread has no guard.
    int in_thread = 0;
    std::thread([&] { in_thread = calls_of(2); }).join();
    CHECK(in_thread == 2);
  }
  CHECK(calls_of(2) == 2);
  {
    const parametrize::CachedGuard cached;
    {
      const NoGradGuard no_grad;
      CHECK(calls_of(2) == 1);
    }
    CHECK(calls_of(2) == 1); // a value without graph does not serve training
    const NoGradGuard no_grad;
    CHECK(calls_of(2) == 0);
    parametrize::register_parametrization(layer, "weight", Counting());
    layer(x);
    CHECK(at::allclose(layer->weight, 4 * original));
  }
  // A new guard does not take what an older one has left.
  {
    const parametrize::CachedGuard cached;
    CHECK(calls_of(2) == 1);
  }
}

TEST_CASE("orthogonal says what is wrong", "[nn][norms][errors]") {
  nn::Linear layer(3, 4);
  CHECK_THROWS_MATCHES(
      P::orthogonal(layer, "wait"), c10::ValueError, Says("has no parameter or buffer with name 'wait'"));
  CHECK_THROWS_MATCHES(
      P::orthogonal(layer, "bias"), c10::ValueError,
      Says("Expected a matrix or batch of matrices. Got a tensor of 1 dimensions"));
  Table table(torch::randn({3, 3}, torch::kComplexFloat));
  CHECK_THROWS_MATCHES(
      P::orthogonal(table, "table", OrthogonalMap::kHouseholder), c10::ValueError,
      Says("The householder parametrization does not support complex tensors"));
  layer->register_buffer("whole", torch::ones({3, 3}, kLong));
  CHECK_THROWS_AS(P::orthogonal(layer, "whole"), c10::Error);
  CHECK(layer->named_buffers().keys() == std::vector<std::string>{"whole"});
  CHECK(layer->children().empty());
  CHECK(layer->named_parameters().keys() == std::vector<std::string>{"weight", "bias"});
}
