// torch::export_: modules as programs.
#include <catch2/catch.hpp>

#include <torch/export.h>
#include <torch/torch.h>

using Catch::Matchers::Contains;
using torch::Tensor;

TEST_CASE("A module becomes a program with its parameters", "[capture][export]") {
  auto net = torch::nn::Sequential(torch::nn::Linear(4, 8), torch::nn::BatchNorm1d(8), torch::nn::Linear(8, 2));
  net->eval();
  const auto x = torch::randn({3, 4});
  const auto program = torch::export_(net, {x}, {{"x"}, {}});
  CHECK(program({x}).toTensor().equal(net->forward(x)));
  CHECK(program({}, {{"x", x}}).toTensor().equal(net->forward(x)));
  CHECK(program.state_dict().size() == 9);
  CHECK(program.module().named_parameters().contains("0.weight"));
  CHECK_THROWS_WITH(program({torch::randn({5, 4})}), Contains("Expected input x.shape[0] to be equal to 3, but got 5"));
  CHECK_THROWS_WITH(program({x, x}), Contains("takes 1 arguments"));
  CHECK_THROWS_WITH(program({}), Contains("missing a value for argument 'x'"));
  CHECK_THROWS_WITH(program({x}, {{"y", x}}), Contains("no argument 'y'"));
  // The program trains the module's own parameters.
  program({x}).toTensor().sum().backward();
  CHECK(net->parameters()[0].grad().defined());
  bool has_parameter = false;
  for (const auto& spec : program.graph_signature().input_specs) {
    has_parameter = has_parameter || (spec.kind == torch::InputKind::PARAMETER && spec.target == "0.weight");
  }
  CHECK(has_parameter);
  program.graph().lint();
}

TEST_CASE("A function of several tensors gives a tuple", "[capture][export]") {
  const auto scale = torch::tensor({2.0f});
  const auto f = [&](const Tensor& x, const Tensor& y) {
    return std::make_tuple(x * scale, std::vector<Tensor>{x + y, y});
  };
  const auto x = torch::randn(3), y = torch::randn(3);
  const auto program = torch::export_(f, {x, y});
  const auto out = program({x, y});
  REQUIRE(out.toTupleRef().elements().size() == 3);
  CHECK(out.toTupleRef().elements()[1].toTensor().equal(x + y));
  CHECK_THROWS_WITH(torch::export_(f, {x}), Contains("does not take 1 tensors"));
  CHECK_THROWS_WITH(torch::export_([](const Tensor& t) { return t.nonzero(); }, {x}), Contains("depends on values"));
}
