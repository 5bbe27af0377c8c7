// The code of docs/torchscript.md, as it stands there.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/backends/backend.h>
#include <torch/csrc/jit/backends/backend_preprocess.h>
#include <torch/script.h>
#include <torch/torch.h>
#include <torch/trace.h>

#include <csrc/jit/frontend/parser.h>
#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/passes/pass_manager.h>
#include <csrc/jit/passes/remove_mutation.h>
#include <csrc/jit/runtime/graph_executor.h>

#include "test/support/doc_code.h"

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

/// Makes a new folder the current one while it lives.
struct TemporaryFolder {
  TemporaryFolder()
      : before(std::filesystem::current_path()),
        path(std::filesystem::temp_directory_path() / ("docs_test_" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directory(path);
    std::filesystem::current_path(path);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(path);
  }

  std::filesystem::path before;
  std::filesystem::path path;
};

torch::jit::Module defined(const std::string& source) {
  torch::jit::Module module("Example");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_parameter("weight", torch::ones({3}), false);
  module.define(source);
  return module;
}

/// Doubles its input.
struct MyBackend : torch::jit::PyTorchBackendInterface {
  bool is_available() override {
    return true;
  }
  c10::impl::GenericDict compile(c10::IValue, c10::impl::GenericDict method_compile_spec) override {
    return method_compile_spec;
  }
  c10::impl::GenericList execute(c10::IValue, c10::impl::GenericList inputs) override {
    return c10::impl::toList(c10::List<torch::Tensor>({inputs.get(0).toTensor() * 2}));
  }
};

c10::IValue preprocess(
    const torch::jit::Module& module,
    const c10::Dict<c10::IValue, c10::IValue>&,
    const torch::jit::BackendDebugHandleGenerator&) {
  return module._ivalue();
}

} // namespace

TEST_CASE("Each line of code of docs/torchscript.md is compiled here", "[jit][docs]") {
  const std::filesystem::path tests = std::filesystem::path(TEST_JIT_DATA).parent_path();
  const test::DocCode code =
      test::look_for_doc_code(tests.parent_path().parent_path() / "docs/torchscript.md", tests / "docs_test.cpp");
  CHECK(code.missing == std::vector<std::string>());
  CHECK(code.lines > 30);
}

TEST_CASE("docs/torchscript.md: load and run", "[jit][docs]") {
  const TemporaryFolder folder;
  defined("def forward(self, x):\n    return x.mean([2, 3]) * self.weight\n").save("resnet18.pt");
  torch::jit::Module model = torch::jit::load("resnet18.pt");
  model.eval();
  torch::NoGradGuard no_grad;
  torch::Tensor scores = model.forward({torch::rand({1, 3, 224, 224})}).toTensor();
  CHECK(scores.sizes() == at::IntArrayRef({1, 3}));
}

TEST_CASE("docs/torchscript.md: arguments and results", "[jit][docs]") {
  torch::jit::Module model = defined(R"(
def forward(self, ids, attention_mask):
    return ids * attention_mask, 2
def best(self, scores, n: int):
    return scores.topk(n)[0]
)");
  const torch::Tensor ids = torch::arange(3);
  const torch::Tensor mask = torch::ones({3}, torch::kLong);
  const torch::Tensor scores = torch::arange(10);
  c10::IValue out = model.forward({ids}, {{"attention_mask", mask}});
  auto both = out.toTuple();
  torch::Tensor logits = both->elements()[0].toTensor();
  torch::Tensor top = model.get_method("best")({scores, 5}).toTensor();
  CHECK(logits.equal(ids));
  CHECK(top.equal(torch::tensor({9, 8, 7, 6, 5})));
}

TEST_CASE("docs/torchscript.md: compile from source", "[jit][docs]") {
  auto unit = torch::jit::compile(R"(
def count(words: List[str]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
)");
  c10::IValue counts = unit->run_method("count", std::vector<std::string>{"a", "b", "a"});
  CHECK(counts.toGenericDict().at("a").toInt() == 2);

  torch::jit::Module line("Line");
  line.register_parameter("w", torch::ones({1}), /*is_buffer=*/false);
  line.register_attribute("steps", c10::IntType::get(), 0);
  line.define(R"(
def forward(self, x: Tensor) -> Tensor:
    self.steps += 1
    return x * self.w
)");
  CHECK(line.forward({torch::ones({2})}).toTensor().sum().item<float>() == 2);
  CHECK(line.attr("steps").toInt() == 1);
}

TEST_CASE("docs/torchscript.md: the tree of a source", "[jit][docs]") {
  const std::string source = "def one(x: int) -> int:\n    return x + 1\n";
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Parser parser(std::make_shared<torch::jit::Source>(source));
  while (parser.lexer().cur().kind != torch::jit::TK_EOF) {
    const torch::jit::Def function(parser.parseFunction(/*is_method=*/false));
    const torch::jit::Def renamed = function.withName("my_" + function.name().name());
    unit->define(std::nullopt, {}, {}, {renamed}, {torch::jit::nativeResolver()}, nullptr);
  }
  CHECK(unit->get_function("my_one")({2}).toInt() == 3);
}

TEST_CASE("docs/torchscript.md: the error of a wrong program", "[jit][docs]") {
  const std::string source =
      "def g(n: int):\n    return n\n"
      "def f(x: str):\n    return g(x)\n";
  try {
    torch::jit::compile(source);
    FAIL("it compiled");
  } catch (const torch::jit::ErrorReport& error) {
    CHECK_THAT(
        error.what(),
        Catch::Contains("Expected a value of type 'int' for argument 'n' but instead found type 'str'.") &&
            Catch::Contains("    return g(x)\n           ~ <--- HERE"));
  }
}

TEST_CASE("docs/torchscript.md: record from C++", "[jit][docs]") {
  const TemporaryFolder folder;
  torch::nn::Sequential net(torch::nn::Linear(4, 8), torch::nn::ReLU(), torch::nn::Linear(8, 2));
  torch::jit::Module traced = torch::jit::trace(net, torch::rand({3, 4}));
  traced.save("net.pt");

  const torch::Tensor x = torch::rand({2, 3});
  const torch::Tensor y = torch::rand({2, 3});
  torch::jit::Module scaled = torch::jit::trace(
      [](const torch::Tensor& x, const torch::Tensor& y) { return (x * y).softmax(1); }, std::make_tuple(x, y));
  CHECK(scaled.forward({y, y}).toTensor().allclose((y * y).softmax(1)));
  CHECK(torch::jit::load("net.pt").forward({torch::rand({5, 4})}).toTensor().size(1) == 2);
}

TEST_CASE("docs/torchscript.md: train", "[jit][docs]") {
  torch::jit::Module model = defined("def forward(self, x):\n    return x * self.weight\n");
  for (torch::Tensor p : model.parameters()) {
    p.requires_grad_();
  }
  const torch::Tensor x = torch::rand({4, 3});
  const torch::Tensor target = torch::zeros({4}, torch::kLong);
  const torch::Tensor before = model.attr("weight").toTensor().clone();
  model.train();
  std::vector<torch::Tensor> parameters;
  for (const torch::Tensor& p : model.parameters()) {
    parameters.push_back(p);
  }
  torch::optim::SGD optimizer(parameters, 0.01);
  optimizer.zero_grad();
  torch::nn::functional::cross_entropy(model.forward({x}).toTensor(), target).backward();
  optimizer.step();
  CHECK_FALSE(model.attr("weight").toTensor().equal(before));
}

TEST_CASE("docs/torchscript.md: change graphs", "[jit][docs]") {
  auto pass = torch::jit::registerPrePass(
      [](std::shared_ptr<torch::jit::Graph>& graph) { torch::jit::RemoveTensorMutation(graph); });
  torch::jit::Module model = defined("def forward(self, x):\n    y = x + 1\n    y.relu_()\n    return y\n");
  CHECK(model.forward({torch::zeros({2})}).toTensor().equal(torch::ones({2})));
  const auto last = torch::jit::lastExecutedOptimizedGraph();
  CHECK(last->findNode(torch::jit::Symbol::aten("relu_")) == nullptr);
  CHECK(last->findNode(torch::jit::aten::relu) != nullptr);
  torch::jit::clearPrePass(pass);
}

TEST_CASE("docs/torchscript.md: calls that look at a program and make it faster", "[jit][docs]") {
  const TemporaryFolder folder;
  torch::jit::Module model = defined("def forward(self, x):\n    return x * self.weight\n");
  model.eval();
  CHECK_FALSE(model.dump_to_str(true, false, false).empty());
  CHECK_FALSE(model.get_method("forward").graph()->toString().empty());
  const torch::Tensor x = torch::rand({4, 3});
  const torch::Tensor expected = model.forward({x}).toTensor();
  CHECK(torch::jit::lastExecutedOptimizedGraph()->findNode(torch::jit::aten::mul) != nullptr);
  CHECK(torch::jit::freeze(model).forward({x}).toTensor().equal(expected));
  CHECK(torch::jit::optimize_for_inference(model).forward({x}).toTensor().equal(expected));
  torch::jit::setGraphExecutorOptimize(false);
  CHECK(model.forward({x}).toTensor().equal(expected));
  torch::jit::setGraphExecutorOptimize(true);
  model.to(torch::kHalf);
  CHECK(model.attr("weight").toTensor().scalar_type() == torch::kHalf);
  model.save("out.pt");
  torch::serialize::InputArchive archive;
  archive.load_from("out.pt");
  torch::Tensor weight;
  archive.read("weight", weight);
  CHECK(weight.numel() == 3);
}

TEST_CASE("docs/torchscript.md: backends of programs", "[jit][docs]") {
  const TemporaryFolder folder;
  // clang-format off
  static const torch::jit::backend<MyBackend> registered("my_backend");                  // is_available, compile, execute
  static const torch::jit::backend_preprocess_register preprocessed("my_backend", preprocess);
  // clang-format on
  const torch::jit::Module model = defined("def forward(self, x):\n    return x + x\n");
  c10::Dict<c10::IValue, c10::IValue> spec(c10::StringType::get(), c10::AnyType::get());
  spec.insert("forward", "");
  const auto any_dict = c10::DictType::create(c10::StringType::get(), c10::AnyType::get());

  torch::jit::Module lowered = torch::jit::detail::codegen_backend_module("my_backend", model, spec, any_dict);
  lowered.save("lowered.pt");
  CHECK(torch::jit::load("lowered.pt").forward({torch::ones({2})}).toTensor().sum().item<float>() == 4);
}
