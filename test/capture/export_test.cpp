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

TEST_CASE("Results of a program are in the containers of the function's", "[capture][export]") {
  const auto scale = torch::tensor({2.0f});
  const auto f = [&](const Tensor& x, const Tensor& y) {
    return std::make_tuple(x * scale, std::vector<Tensor>{x + y, y});
  };
  const auto x = torch::randn(3), y = torch::randn(3);
  const auto program = torch::export_(f, {x, y});
  const auto out = program({x, y});
  REQUIRE(out.toTupleRef().elements().size() == 2);
  CHECK(out.toTupleRef().elements()[1].toTensorVector()[0].equal(x + y));
  CHECK_THROWS_WITH(torch::export_(f, {x}), Contains("does not take 1 tensors"));
  CHECK_THROWS_WITH(torch::export_([](const Tensor& t) { return t.nonzero(); }, {x}), Contains("depends on values"));
}

TEST_CASE("A program with a dynamic size runs at sizes that were never traced", "[capture][export]") {
  auto net = torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).stride(2)), torch::nn::BatchNorm2d(8), torch::nn::ReLU(),
      torch::nn::AdaptiveAvgPool2d(2), torch::nn::Flatten(), torch::nn::Linear(32, 5));
  const auto mean = net->buffers()[0].clone();
  const auto program = torch::export_(net, {torch::randn({4, 3, 9, 11})}, {{"x"}, {}, {{"x", 0}, {"x", 2}, {"x", -1}}});
  CHECK(net->buffers()[0].equal(mean)); // what tracing wrote is undone
  net->eval();
  const auto inference =
      torch::export_(net, {torch::randn({4, 3, 9, 11})}, {{"x"}, {}, {{"x", 0}, {"x", 2}, {"x", 3}}});
  for (const auto& sizes : {std::vector<int64_t>{2, 3, 7, 7}, {13, 3, 20, 31}, {1, 3, 9, 9}, {64, 3, 9, 10}}) {
    const auto x = torch::randn(sizes);
    CHECK(inference({x}).toTensor().equal(net->forward(x)));
  }
  CHECK(inference.range_constraints().size() == 3);
  CHECK(inference.range_constraints().at("s0").min_val == 1);
  inference.graph().lint();
  const auto again = torch::fx::Graph::parse(inference.graph().to_string());
  CHECK(again->to_string() == inference.graph().to_string());
}

TEST_CASE("Numbers computed from sizes become functions of the sizes", "[capture][export]") {
  const auto f = [](const Tensor& x) {
    const int64_t n = x.size(0), m = x.size(1);
    const auto rows = x.view({n * m}).view({m, n}).sum(1) / std::sqrt(static_cast<double>(n));
    const auto zeros = torch::zeros({n / 2 + 1, m + 3}, x.options());
    return std::make_tuple(
        rows, zeros, x * n, x / static_cast<double>(m), torch::arange(n - 1), n + m, x.reshape({-1}).narrow(0, n, m));
  };
  const auto program = torch::export_(f, {torch::randn({6, 4})}, {{"x"}, {}, {{"x", 0}, {"x", 1}}});
  for (const auto& sizes : {std::vector<int64_t>{2, 2}, {5, 7}, {31, 2}, {3, 50}}) {
    const auto x = torch::randn(sizes);
    const auto want = f(x);
    const auto got = program({x});
    const auto& parts = got.toTupleRef().elements();
    CHECK(parts[0].toTensor().equal(std::get<0>(want)));
    CHECK(parts[1].toTensor().equal(std::get<1>(want)));
    CHECK(parts[2].toTensor().equal(std::get<2>(want)));
    CHECK(parts[3].toTensor().equal(std::get<3>(want)));
    CHECK(parts[4].toTensor().equal(std::get<4>(want)));
    CHECK(parts[5].toInt() == std::get<5>(want));
    CHECK(parts[6].toTensor().equal(std::get<6>(want)));
  }
}

TEST_CASE("Sizes that must be equal are found, and then demanded", "[capture][export]") {
  const auto f = [](const Tensor& x, const Tensor& y, const Tensor& z) {
    return std::make_tuple(x + y, torch::cat({x, z}));
  };
  const auto ones = [](int64_t n) { return torch::ones({n, 3}); };
  const auto program =
      torch::export_(f, {ones(4), ones(4), ones(4)}, {{"x", "y", "z"}, {}, {{"x", 0}, {"y", 0}, {"z", 0}}});
  CHECK(program.range_constraints().size() == 2);
  const auto out = program({ones(7), ones(7), ones(5)});
  CHECK(out.toTupleRef().elements()[0].toTensor().equal(ones(7) * 2));
  CHECK(out.toTupleRef().elements()[1].toTensor().equal(ones(12)));
  CHECK_THROWS_WITH(
      program({ones(7), ones(6), ones(5)}), Contains("Expected input y.shape[0] to be equal to s0, but got 6"));
}

TEST_CASE("A size that the code fixes is refused with the operator that does", "[capture][export]") {
  const auto x = torch::randn({4, 3});
  const auto refused = [&](auto function, const char* operation) {
    CHECK_THROWS_WITH(
        torch::export_(function, {x}, {{"x"}, {}, {{"x", 0}}}),
        Contains("size 0 of 'x' cannot be dynamic") && Contains(operation));
  };
  refused([](const Tensor& t) { return t.reshape({2, 6}); }, "aten::view");
  refused([](const Tensor& t) { return t + torch::ones({4, 1}); }, "aten::add.Tensor");
  refused([](const Tensor& t) { return t.size(0) > 4 ? t.exp() : t.sin(); }, "aten::exp");
  refused([](const Tensor& t) { return torch::stack(t.unbind(0)); }, "aten::unbind");
  refused([](const Tensor& t) { return t + static_cast<double>(t.size(0) * t.size(0) % 5) / 7; }, "aten::add.Scalar");
  CHECK_THROWS_WITH(
      torch::export_([](const Tensor& t) { return t; }, {x}, {{"x"}, {}, {{"y", 0}}}),
      Contains("no input 'y'") && Contains("there are: x"));
  CHECK_THROWS_WITH(
      torch::export_([](const Tensor& t) { return t; }, {x}, {{"x"}, {}, {{"x", 2}}}),
      Contains("Dimension out of range"));
  CHECK_THROWS_WITH(
      torch::export_([](const Tensor& t) { return t; }, {x}, {{"x"}, {}, {{"x", 0, 5}}}),
      Contains("does not lie between"));
  CHECK_THROWS_WITH(
      torch::export_([](const Tensor& t) { return t; }, {x.narrow(0, 0, 1)}, {{"x"}, {}, {{"x", 0}}}),
      Contains("sizes 0 and 1"));
}

TEST_CASE("Ranges of dynamic sizes are guarded", "[capture][export]") {
  const auto f = [](const Tensor& x) { return x.size(0) >= 4 ? x.exp() : x.sin(); };
  const auto x = torch::randn({6});
  CHECK_THROWS_WITH(torch::export_(f, {x}, {{"x"}, {}, {{"x", 0}}}), Contains("cannot be dynamic"));
  const auto program = torch::export_(f, {x}, {{"x"}, {}, {{"x", 0, 4, 32}}});
  const auto longer = torch::randn({17});
  CHECK(program({longer}).toTensor().equal(longer.exp()));
  CHECK_THROWS_WITH(program({torch::randn({3})}), Contains("must lie in [4, 32]"));
  CHECK_THROWS_WITH(program({torch::randn({33})}), Contains("must lie in [4, 32]"));
}

TEST_CASE("Arguments in structures have names, and dynamic sizes", "[capture][export]") {
  using Dict = std::map<std::string, Tensor>;
  const auto f = [](const std::vector<Tensor>& xs, const Dict& d, double scale, const std::optional<Tensor>& bias) {
    const auto sum = (xs[0] + d.at("b")) * scale;
    return Dict{{"sum", bias ? sum + *bias : sum}, {"cat", torch::cat({xs[0], xs[1]})}};
  };
  const auto ones = [](int64_t n) { return torch::ones({n, 3}); };
  const auto args = std::make_tuple(
      std::vector<Tensor>{ones(4), ones(5)}, Dict{{"a", ones(2)}, {"b", ones(4)}}, 2.5, std::optional<Tensor>());
  torch::ExportOptions options;
  options.arg_names = {"xs", "d", "scale", "bias"};
  options.dynamic = {{"xs[0]", 0}, {"d['b']", 0}, {"xs[1]", 0}};
  const auto program = torch::export_(f, args, options);
  c10::Dict<std::string, Tensor> d;
  d.insert("b", ones(9));
  d.insert("a", ones(2));
  const auto out = program({std::vector<Tensor>{ones(9), ones(3)}, d, 2.5, c10::IValue()}).toGenericDict();
  CHECK(out.at("sum").toTensor().equal(ones(9) * 5));
  CHECK(out.at("cat").toTensor().equal(ones(12)));
  CHECK_THROWS_WITH(
      program({std::vector<Tensor>{ones(9), ones(3)}, d, 3.0, c10::IValue()}), Contains("to be equal to 2.5"));
}

TEST_CASE("Random numbers and arguments that are written to are as before an export", "[capture][export]") {
  const auto x = torch::ones({4});
  torch::manual_seed(1);
  const auto want = torch::rand(2);
  torch::manual_seed(1);
  const auto program = torch::export_([](const Tensor& t) { return t.add_(1) + torch::rand_like(t); }, {x});
  CHECK(torch::rand(2).equal(want));
  CHECK(x.equal(torch::ones({4})));
  program({x});
  CHECK(x.equal(torch::full({4}, 2.0f)));
}
