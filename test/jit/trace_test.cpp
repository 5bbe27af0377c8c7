// Functions and modules, traced.
#include <catch2/catch.hpp>

#include <csrc/jit/tracing/trace_module.h>
#include <csrc/jit/tracing/tracer.h>
#include <torch/torch.h>

#include <sstream>
#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Matchers::Contains;
using torch::Tensor;

namespace {

std::vector<std::string> kinds(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node* node : graph.nodes()) {
    if (node->kind().is_aten()) {
      names.emplace_back(node->kind().toQualString());
    }
  }
  return names;
}

std::shared_ptr<Graph> graph_of(const Module& module) {
  return toGraphFunction(module.get_method("forward").function()).graph();
}

// Collects the warnings of this thread.
struct Warnings : c10::WarningHandler {
  Warnings() : previous(c10::WarningUtils::get_warning_handler()) {
    c10::WarningUtils::set_warning_handler(this);
  }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() override {
    c10::WarningUtils::set_warning_handler(previous);
  }
  void process(const c10::Warning& warning) override {
    text += warning.msg() + "\n";
  }
  c10::WarningHandler* previous;
  std::string text;
};

struct NetImpl : torch::nn::Module {
  NetImpl()
      : conv(register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 4, 3).padding(1)))),
        norm(register_module("norm", torch::nn::BatchNorm2d(4))),
        head(register_module("head", torch::nn::Linear(4 * 5 * 5, 3))) {}
  Tensor forward(const Tensor& x) {
    return head(norm(conv(x)).relu().flatten(1));
  }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d norm;
  torch::nn::Linear head;
};
TORCH_MODULE(Net);

} // namespace

TEST_CASE("A trace does what the function did, with other inputs", "[jit][trace]") {
  const auto f = [](const Tensor& x, const Tensor& y) { return (x * 2 + y).sum(1, /*keepdim=*/true).sigmoid(); };
  const Tensor x = torch::randn({3, 4});
  const Tensor y = torch::randn({4});
  Module traced = trace(f, std::make_tuple(x, y));
  const Tensor other = torch::randn({7, 4});
  CHECK(torch::equal(traced.forward({other, y}).toTensor(), f(other, y)));
  CHECK(kinds(*graph_of(traced)) == std::vector<std::string>{"aten::mul", "aten::add", "aten::sum", "aten::sigmoid"});
}

TEST_CASE("Composite operators are recorded whole, convolutions in their form for any dimensions", "[jit][trace]") {
  const Tensor weight = torch::randn({5, 2, 3, 3});
  const Tensor matrix = torch::randn({4, 20});
  Module traced = trace(
      [&](const Tensor& x) { return torch::nn::functional::linear(torch::conv2d(x, weight).flatten(1), matrix); },
      torch::randn({1, 2, 4, 4}));
  CHECK(kinds(*graph_of(traced)) == std::vector<std::string>{"aten::_convolution", "aten::flatten", "aten::linear"});
}

TEST_CASE("A traced module has the parameters, buffers and submodules of the nn::Module", "[jit][trace]") {
  Net net;
  net->eval();
  const Tensor x = torch::randn({2, 2, 5, 5});
  Module traced = trace(net, x);
  CHECK(torch::allclose(traced.forward({x}).toTensor(), net(x)));
  std::vector<std::string> names;
  for (const auto& parameter : traced.named_parameters()) {
    names.push_back(parameter.name);
  }
  CHECK(
      names ==
      std::vector<std::string>{"conv.weight", "conv.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"});
  CHECK(Module(traced.attr("conv").toObject()).attr("weight").toTensor().is_same(net->conv->weight));
  CHECK_FALSE(traced.is_training());
  size_t buffers = 0;
  for (const Tensor& buffer : traced.buffers()) {
    buffers += buffer.defined();
  }
  CHECK(buffers == 3);
  for (const Node* node : graph_of(traced)->nodes()) {
    if (node->kind() == c10::Symbol::fromQualString("aten::_convolution")) {
      CHECK(node->scopeName() == "__module.conv");
    }
    if (node->kind() == c10::Symbol::fromQualString("aten::relu")) {
      CHECK(node->scopeName().empty());
    }
  }
}

TEST_CASE("A traced module trains", "[jit][trace]") {
  torch::manual_seed(1);
  Net net;
  const Tensor x = torch::randn({8, 2, 5, 5});
  const Tensor y = torch::randn({8, 3});
  Module traced = trace(net, x);
  std::vector<Tensor> parameters;
  for (const Tensor& parameter : traced.parameters()) {
    parameters.push_back(parameter);
  }
  torch::optim::SGD optimizer(parameters, 0.01);
  double first = 0;
  double last = 0;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const Tensor loss = torch::mse_loss(traced.forward({x}).toTensor(), y);
    loss.backward();
    optimizer.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  CHECK(last < 0.5 * first);
}

TEST_CASE("Tracing leaves buffers and the generator as one run leaves them", "[jit][trace]") {
  torch::manual_seed(3);
  Net net;
  const Tensor x = torch::randn({4, 2, 5, 5});
  trace([&](const Tensor& input) { return torch::dropout(input, 0.5, true); }, x);
  const Tensor after_trace = torch::rand({4});
  torch::manual_seed(3);
  Net again;
  const Tensor same_x = torch::randn({4, 2, 5, 5});
  torch::dropout(same_x, 0.5, true);
  CHECK(torch::equal(after_trace, torch::rand({4})));
  trace(net, x);
  again->forward(x);
  CHECK(torch::allclose(net->norm->running_mean, again->norm->running_mean));
  CHECK(net->norm->num_batches_tracked.item<int64_t>() == 1);
}

TEST_CASE("In-place operators and views stay what they are", "[jit][trace]") {
  const auto f = [](const Tensor& x) {
    Tensor y = x.clone();
    y.select(0, 0).add_(1);
    y.index_put_({torch::tensor({1})}, torch::full({1}, 9.0));
    return y * 2;
  };
  Module traced = trace(f, torch::zeros({3}));
  const Tensor x = torch::tensor({1.0, 2.0, 3.0}).to(torch::kFloat);
  CHECK(torch::equal(traced.forward({x}).toTensor(), f(x)));
  CHECK(torch::equal(x, torch::tensor({1.0, 2.0, 3.0}).to(torch::kFloat)));
  TraceOptions functional;
  functional.force_outplace = true;
  functional.check_trace = false;
  Module out_of_place = trace([](const Tensor& v) { return (v + 1).relu_().zero_(); }, torch::ones({2}), functional);
  CHECK(kinds(*graph_of(out_of_place)) == std::vector<std::string>{"aten::add", "aten::relu", "aten::zeros_like"});
}

TEST_CASE("Lists and tuples go in and out", "[jit][trace]") {
  const auto f = [](const std::vector<Tensor>& list, const Tensor& x) {
    const std::vector<Tensor> parts = torch::cat(list).chunk(2);
    return std::make_tuple(parts[0] + x, std::get<1>(torch::max(parts[1], 0)));
  };
  const std::vector<Tensor> list{torch::randn({2, 3}), torch::randn({2, 3})};
  const Tensor x = torch::randn({3});
  Module traced = trace(f, std::make_tuple(list, x));
  const auto got = traced.forward({list, x}).toTuple();
  const auto expected = f(list, x);
  CHECK(torch::equal(got->elements()[0].toTensor(), std::get<0>(expected)));
  CHECK(torch::equal(got->elements()[1].toTensor(), std::get<1>(expected)));
}

TEST_CASE("A tensor that goes in twice is two inputs", "[jit][trace]") {
  const Tensor x = torch::randn({3});
  Module traced = trace([](const Tensor& a, const Tensor& b) { return a - b; }, std::make_tuple(x, x));
  const Tensor y = torch::randn({3});
  CHECK(torch::equal(traced.forward({x, y}).toTensor(), x - y));
}

TEST_CASE("A trace warns where a number came from a tensor", "[jit][trace]") {
  Warnings warnings;
  trace([](const Tensor& x) { return x * x.sum().item<double>(); }, torch::ones({2}));
  CHECK_THAT(warnings.text, Contains("Converting a tensor to a number might cause the trace to be incorrect"));
}

TEST_CASE("A trace warns if the traced module gives something else", "[jit][trace]") {
  Warnings warnings;
  int calls = 0;
  trace(
      [&](const Tensor& x) { return x + static_cast<double>(++calls > 2); }, torch::ones({2}),
      [] {
        TraceOptions options;
        return options;
      }());
  CHECK_THAT(warnings.text, Contains("Output nr 1. of the traced function does not match"));
}

TEST_CASE("Traces refuse what they cannot follow", "[jit][trace]") {
  const Tensor x = torch::ones({2});
  const Tensor weight = torch::ones({2}, torch::requires_grad());
  CHECK_THROWS_WITH(
      trace([&](const Tensor& input) { return input * weight; }, x),
      Contains("Cannot insert a Tensor that requires grad as a constant"));
  CHECK_FALSE(tracer::isTracing());
  CHECK_THROWS_WITH(
      trace([](const Tensor& input) { return input.item<double>(); }, torch::ones({})),
      Contains("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output"));
  CHECK_THROWS_WITH(
      trace(
          [&](const Tensor& input) {
            return trace([](const Tensor& y) { return y; }, input).forward({input}).toTensor();
          },
          x),
      Contains("Tracing can't be nested"));
  CHECK_THROWS_WITH(
      trace([](const Tensor& input) { return torch::matmul(input, torch::ones({3})); }, x), Contains("size"));
  CHECK_FALSE(tracer::isTracing());
  int calls = 0;
  CHECK_THROWS_WITH(
      trace([&](const Tensor& input) { return ++calls == 1 ? input.exp() : input.log(); }, x),
      Contains("Graphs differed across invocations"));
  const auto generator = at::detail::createCPUGenerator();
  CHECK_THROWS_WITH(
      trace([&](const Tensor& input) { return input + torch::randn({2}, generator); }, x), Contains("Generator"));
}

TEST_CASE("tracer::trace records as libtorch's programs use it", "[jit][trace]") {
  const Tensor x = torch::randn({2, 3});
  const auto [state, outputs] = tracer::trace(
      {x}, [](Stack inputs) -> Stack { return {inputs[0].toTensor().transpose(0, 1)}; },
      [](const Tensor&) { return "named"; }, true, false, nullptr, {"x"});
  CHECK(outputs.at(0).toTensor().sizes() == torch::IntArrayRef({3, 2}));
  std::ostringstream text;
  state->graph->print(text, false);
  CHECK_THAT(text.str(), Contains("graph(%x : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)):"));
  CHECK_THAT(text.str(), Contains("aten::transpose(%x, "));
}
