// What wrappers of other languages do with modules: the calls that those of Rust and .NET make, and tutorials.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/codegen/cuda/interface.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/mobile/import.h>
#include <torch/csrc/jit/mobile/module.h>
#include <torch/csrc/jit/passes/fixup_trace_scope_blocks.h>
#include <torch/csrc/jit/passes/normalize_ops.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/script.h>
#include <torch/torch.h>
#include <torch/trace.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using Catch::Matchers::Contains;

namespace {

using JitModule = std::shared_ptr<torch::jit::Module>*;

torch::jit::script::Module example() {
  torch::jit::script::Module m("Net");
  torch::jit::script::Module fc("Fc");
  fc.register_parameter("weight", torch::ones({2, 3}), false);
  fc.register_buffer("scale", torch::full({1}, 2.0));
  fc.define("def forward(self, x: Tensor) -> Tensor:\n    return torch.matmul(x, self.weight.t()) * self.scale\n");
  m.register_module("fc", fc);
  m.register_attribute("training", torch::jit::BoolType::get(), true);
  m.define(R"JIT(
def forward(self, x: Tensor):
    return self.fc.forward(x)
def pair(self, x: Tensor, n: int) -> Tuple[Tensor, int]:
    return self.fc.forward(x) + n, n
def shout(self, s: str) -> str:
    return s.upper()
)JIT");
  return m;
}

} // namespace

TEST_CASE("Calls of a Rust wrapper", "[jit]") {
  auto* m = new torch::jit::script::Module(example());
  at::Tensor input = torch::ones({1, 3});
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(input);
  torch::jit::IValue output = m->forward(inputs);
  REQUIRE(output.isTensor());
  CHECK(output.toTensor()[0][0].item<float>() == 6);

  inputs.push_back(torch::jit::IValue(int64_t(2)));
  output = m->get_method("pair")(inputs);
  REQUIRE(output.isTuple());
  CHECK(output.toTuple()->elements().size() == 2);
  CHECK(output.toTuple()->elements()[1].toInt() == 2);
  CHECK(m->get_method("shout")({torch::jit::IValue("a")}).toStringRef() == "A");
  CHECK_THROWS_WITH(m->create_class("Nope", inputs), Contains("Could not find class with name: 'Nope' in module."));

  m->train();
  CHECK(m->is_training());
  m->eval();
  m->to(at::Device(at::kCPU), at::ScalarType(at::kDouble), false);
  std::vector<std::string> found;
  for (const auto& p : m->named_parameters()) {
    auto v = p.value;
    CHECK(v.dtype() == at::kDouble);
    found.push_back(p.name);
  }
  CHECK(found == std::vector<std::string>{"fc.weight"});
  torch::jit::getProfilingMode() = bool(torch::jit::getProfilingMode());
  torch::jit::setTensorExprFuserEnabled(torch::jit::tensorExprFuserEnabled());

  // Objects inside of values.
  torch::jit::IValue fc = m->attr("fc");
  REQUIRE(fc.isObject());
  auto object = fc.toObject();
  CHECK(object->getAttr("scale").isTensor());
  torch::jit::Function& method = object->type()->getMethod("forward");
  std::vector<torch::jit::IValue> stack{object, torch::ones({1, 3}, torch::kDouble)};
  CHECK(method(stack).toTensor().size(1) == 2);
  delete m;
}

TEST_CASE("Calls of a .NET wrapper", "[jit]") {
  JitModule module = new std::shared_ptr<torch::jit::Module>(new torch::jit::Module(example()));
  CHECK((*module)->is_training());
  (*module)->train(false);
  (*module)->eval();
  (*module)->to(c10::DeviceType::CPU);
  (*module)->to(at::ScalarType::Float);
  std::vector<JitModule> modules;
  for (const auto& child : (*module)->modules()) {
    modules.push_back(new std::shared_ptr<torch::jit::Module>(new torch::jit::Module(child)));
  }
  CHECK(modules.size() == (*module)->modules().size());
  for (const JitModule child : modules) {
    delete child;
  }
  std::string names;
  for (const auto& child : (*module)->named_modules()) {
    if (child.name.empty()) {
      continue;
    }
    names += child.name + ";";
  }
  for (const auto& child : (*module)->named_children()) {
    names += child.name + ";";
  }
  auto buffers = (*module)->named_buffers(true);
  for (const auto& child : buffers) {
    names += child.name + ";";
  }
  for (const auto& child : (*module)->named_attributes(true)) {
    if (child.name.length() > 0 && child.value.isTensor()) {
      names += child.name + ";";
    }
  }
  CHECK(names == "fc;fc;fc.scale;fc.weight;fc.scale;");
  CHECK(buffers.size() == 1);

  auto* method = new std::shared_ptr<torch::jit::Method>(new torch::jit::Method((*module)->get_method("pair")));
  CHECK((*method)->num_inputs() - 1 == 2);
  CHECK((*method)->name() == "pair");
  CHECK((*method)->function().getSchema().returns().size() == 1);
  const auto& arguments = (*method)->function().getSchema().arguments();
  CHECK(arguments[1].type()->kind() == c10::TypeKind::TensorType);
  CHECK(arguments[1].type()->cast<c10::TensorType>() != nullptr);
  CHECK(arguments[2].type()->kind() == c10::TypeKind::IntType);
  delete method;
  auto type = (*module)->type();
  CHECK(type->getMethod("forward").getSchema().arguments()[1].name() == "x");
  (*module)->setattr("training", true);
  CHECK_FALSE((*module)->find_method("nope").has_value());
  c10::impl::GenericDict kwargs(c10::StringType::get(), c10::AnyType::get());
  CHECK(kwargs.empty());
  delete module;

  auto unit = torch::jit::compile(R"JIT(
def relu6(x):
    return torch.clamp(x, 0.0, 6.0)
def add_i(x: Tensor, i: int) -> Tensor:
    return x + i
def many(x):
    return (x, [x, x], {"x": x})
)JIT");
  auto* held = new std::shared_ptr<torch::jit::CompilationUnit>(unit);
  auto* function = (*held)->find_function("relu6");
  REQUIRE(function != nullptr);
  CHECK((*function)({torch::full({1}, 9.0)}).toTensor().item<float>() == 6);
  CHECK((*held)->run_method("add_i", torch::zeros({1}), 4).toTensor().item<float>() == 4);
  torch::jit::IValue many = (*held)->run_method("many", torch::ones({1}));
  CHECK(many.toTupleRef().elements()[1].isTensorList());
  CHECK(many.toTupleRef().elements()[2].toGenericDict().size() == 1);
  CHECK((*held)->find_function("nope") == nullptr);
  CHECK_THROWS_WITH((*held)->run_method("nope"), Contains("attempted to get undefined function nope"));
  delete held;
}

TEST_CASE("A Rust wrapper traces piece by piece", "[jit]") {
  torch::jit::script::Module module("Traced");
  const auto begin = [&](std::vector<at::Tensor>& inputs) {
    auto state = std::make_shared<torch::jit::tracer::TracingState>();
    torch::jit::tracer::setTracingState(state);
    state->graph->insertInput(0, "self")->setType(module._ivalue()->type());
    for (at::Tensor& input : inputs) {
      auto* value = state->graph->addInput();
      value->setType(torch::jit::TensorType::get());
      state->setValue(input, value);
    }
  };
  std::vector<at::Tensor> inputs{torch::rand({2, 3}), torch::rand({2, 3})};
  begin(inputs);
  const at::Tensor output = (inputs[0] * inputs[1]).relu() + 1;
  auto state = torch::jit::tracer::getTracingState();
  REQUIRE(state != nullptr);
  state->graph->registerOutput(state->getOutput(output, 0));
  torch::jit::FixupTraceScopeBlocks(state->graph, &module);
  torch::jit::NormalizeOps(state->graph);
  torch::jit::tracer::setTracingState(nullptr);
  auto* function = module._ivalue()->compilation_unit()->create_function("step", state->graph);
  module.type()->addMethod(function);
  CHECK(module.get_method("step")({torch::ones({2}), torch::full({2}, 3.0)}).toTensor()[1].item<float>() == 4);

  begin(inputs);
  CHECK(torch::jit::tracer::isTracing());
  torch::jit::tracer::abandon();
  CHECK_FALSE(torch::jit::tracer::isTracing());
  auto graph = std::make_shared<torch::jit::Graph>();
  CHECK_THROWS_WITH(torch::jit::FixupTraceScopeBlocks(graph, &module), Contains("must be the module"));
}

TEST_CASE("Calls of programs for phones", "[jit]") {
  const std::string path = std::string(TEST_JIT_DATA) + "/import/phone.ptl";
  std::unordered_map<std::string, std::string> extra_files{{"labels.txt", ""}};
  torch::jit::mobile::Module module = torch::jit::_load_for_mobile(path, torch::kCPU, extra_files);
  CHECK(extra_files["labels.txt"] == "a b");
  module.eval();
  CHECK_FALSE(module.is_training());
  CHECK(torch::equal(module.forward({}).toTensor(), torch::full({2}, 4.0)));
  CHECK(torch::equal(module.run_method("forward").toTensor(), torch::full({2}, 4.0)));
  CHECK(module.find_method("forward"));
  CHECK_FALSE(module.find_method("backward"));
  CHECK(module.attr("count", 0).toInt() == 4);
  CHECK(module.attr("nothing", 5).toInt() == 5);
  CHECK(module.parameters().size() == 1);
  CHECK(module.named_parameters().count("weight") == 1);
  CHECK(module.name() == "__torch__.Packed");
  std::ifstream in(path, std::ios::binary);
  CHECK(torch::jit::_load_for_mobile(in).slots().size() == module.slots().size());
}

TEST_CASE("Calls of inference servers", "[jit]") {
  CHECK_FALSE(torch::jit::fuser::cuda::canBeEnabled());
  CHECK_FALSE(torch::jit::fuser::cuda::setEnabled(true));
  CHECK_FALSE(torch::jit::fuser::cuda::isEnabled());
}

TEST_CASE("Calls of Java wrappers", "[jit]") {
  std::ostringstream out;
  example().save(out, {{"labels.txt", "a b"}});
  std::istringstream in(out.str());
  std::unordered_map<std::string, std::string> extra_files{{"labels.txt", ""}, {"nope", ""}};
  torch::jit::script::Module module = torch::jit::load(in, torch::Device(torch::kCPU), extra_files);
  CHECK(extra_files["labels.txt"] == "a b");
  module.eval();
  torch::jit::getExecutorMode() = bool(torch::jit::getExecutorMode());
  torch::jit::FusionStrategy strategy = {{torch::jit::FusionBehavior::DYNAMIC, 2}};
  torch::jit::FusionStrategy before = torch::jit::setFusionStrategy(strategy);
  torch::jit::setFusionStrategy(before);
  static std::string printed;
  printed.clear();
  const torch::jit::PrintHandler print_handler = torch::jit::getPrintHandler();
  torch::jit::setPrintHandler([](const std::string& text) { printed += text; });
  module.define("def say(self):\n    print('hello')\n");
  {
    torch::autograd::AutoGradMode no_autograd_guard{false};
    c10::InferenceMode guard;
    torch::jit::GraphOptimizerEnabledGuard no_optimizer_guard{false};
    CHECK(module.forward({torch::ones({1, 3})}).isTensor());
    if (auto method = module.find_method("say")) {
      (*method)({});
    }
  }
  torch::jit::setPrintHandler(print_handler);
  CHECK(printed == "hello\n");
  std::set<std::string> names;
  for (const auto& each : module.named_attributes()) {
    names.insert(each.name);
  }
  CHECK(names == std::set<std::string>{"fc", "fc.weight", "fc.scale", "training"});
}

TEST_CASE("A .NET wrapper asks what types of arguments hold", "[jit]") {
  const auto traced = torch::jit::trace([](const at::Tensor& x) { return x * 2; }, torch::rand({2, 3}));
  const auto graph = traced.get_method("forward").graph();
  const auto type = graph->inputs().back()->type()->cast<c10::TensorType>();
  REQUIRE(type);
  CHECK(type->scalarType() == at::kFloat);
  CHECK(type->sizes().concrete_sizes() == std::vector<int64_t>{2, 3});
  CHECK(type->device() == at::Device(at::kCPU));
  CHECK(type->dim() == size_t{2});
}

TEST_CASE("A tutorial's loop over parameters, and an optimizer of them", "[jit]") {
  torch::manual_seed(0);
  torch::jit::script::Module module = example();
  std::vector<at::Tensor> parameters;
  for (const auto& params : module.parameters()) {
    params.requires_grad_(true);
    parameters.push_back(params);
  }
  const at::Tensor before = parameters[0].detach().clone();
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(1e-1));
  const at::Tensor x = torch::randn({8, 3});
  const at::Tensor y = torch::randn({8, 2});
  float loss = 0;
  float first_loss = 0;
  for (int step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    auto prediction = module.forward({x}).toTensor();
    auto l = torch::mse_loss(prediction, y);
    l.backward();
    optimizer.step();
    loss = l.item<float>();
    first_loss = step == 0 ? loss : first_loss;
  }
  CHECK(loss < first_loss / 2);
  CHECK_FALSE(module.attr("fc").toObject()->getAttr("weight").toTensor().equal(before));
  const torch::NoGradGuard no_grad;
  const auto output = module.forward({torch::ones({1, 3})}).toTensor();
  CHECK_FALSE(output.requires_grad());
}

TEST_CASE("Names of the old namespace are there", "[jit]") {
  CHECK(std::is_same_v<torch::jit::script::Module, torch::jit::Module>);
  CHECK(std::is_same_v<torch::jit::script::Method, torch::jit::Method>);
  CHECK(std::is_same_v<torch::jit::script::Object, torch::jit::Object>);
  CHECK(std::is_same_v<torch::jit::script::ExtraFilesMap, torch::jit::ExtraFilesMap>);
  CHECK(std::is_same_v<torch::jit::script::CompilationUnit, torch::jit::CompilationUnit>);
  torch::jit::named_parameter_list parameters = example().named_parameters();
  torch::jit::named_buffer_list buffers = example().named_buffers();
  torch::jit::named_module_list modules = example().named_modules();
  CHECK(parameters.size() + buffers.size() + modules.size() == 4);
}
