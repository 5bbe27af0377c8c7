// Modules that are lowered to a backend of the program.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/backends/backend.h>
#include <torch/csrc/jit/backends/backend_exception.h>
#include <torch/csrc/jit/backends/backend_preprocess.h>
#include <torch/script.h>

#include <algorithm>
#include <set>
#include <sstream>

using namespace torch::jit;
using Catch::Matchers::Contains;

namespace {

bool available = true;

// Runs a method by its name: `sum` adds its inputs up, `both` gives sum and difference, `number` is of another type
// than the method declares.
struct SumBackend : PyTorchBackendInterface {
  bool is_available() override {
    return available;
  }
  c10::impl::GenericDict compile(c10::IValue processed, c10::impl::GenericDict spec) override {
    CHECK(processed.isModule());
    c10::impl::GenericDict handles(c10::StringType::get(), c10::AnyType::get());
    for (const auto& entry : spec) {
      handles.insert(entry.key(), "run " + entry.key().toStringRef());
    }
    return handles;
  }
  c10::impl::GenericList execute(c10::IValue handle, c10::impl::GenericList inputs) override {
    const std::string name = handle.toStringRef();
    if (name == "run number") {
      c10::impl::GenericList numbers(c10::AnyType::get());
      numbers.push_back(3);
      return numbers;
    }
    const at::Tensor x = inputs.get(0).toTensor();
    const at::Tensor y = inputs.get(1).toTensor();
    TORCH_DELEGATED_BACKEND_THROW(x.sizes() == y.sizes(), "sizes differ", 7)
    c10::List<at::Tensor> results({x + y});
    if (name == "run both") {
      results.push_back(x - y);
    }
    return c10::impl::toList(results);
  }
};

std::set<DebugHandleType> numbers_of_nodes;

c10::IValue preprocess(
    const Module& module,
    const c10::Dict<c10::IValue, c10::IValue>& spec,
    const BackendDebugHandleGenerator& generate_debug_handles) {
  for (const auto& entry : spec) {
    for (const auto& [node, handle] : generate_debug_handles(module.get_method(entry.key().toStringRef()).graph())) {
      CHECK(numbers_of_nodes.insert(handle).second);
    }
  }
  return module._ivalue();
}

const backend<SumBackend> bound("jit_test_sum");
const backend_preprocess_register preprocessed("jit_test_sum", preprocess);

Module original() {
  Module module("Original");
  module.register_parameter("weight", torch::ones({2}), false);
  module.define(R"(
def sum(self, x, y):
    return x + y

def both(self, x, y):
    return x + y, x - y

def number(self, x: Optional[Tensor], n: List[int]) -> Tensor:
    return self.weight
)");
  return module;
}

Module lowered(const std::vector<std::string>& methods) {
  c10::Dict<c10::IValue, c10::IValue> spec(c10::StringType::get(), c10::AnyType::get());
  for (const std::string& method : methods) {
    spec.insert(method, "");
  }
  return torch::jit::detail::codegen_backend_module(
      "jit_test_sum", original(), spec, c10::DictType::create(c10::StringType::get(), c10::AnyType::get()));
}

Module reloaded(const Module& module) {
  std::stringstream file;
  module.save(file);
  return torch::jit::load(file);
}

struct Unavailable {
  Unavailable() {
    available = false;
  }
  ~Unavailable() {
    available = true;
  }
};

} // namespace

TEST_CASE("a lowered module's methods are run by the backend", "[jit][backends]") {
  const bool from_file = GENERATE(false, true);
  Module module = lowered({"sum", "both"});
  if (from_file) {
    module = reloaded(reloaded(module));
  }
  const at::Tensor x = torch::full({2}, 5.0);
  const at::Tensor y = torch::full({2}, 3.0);
  CHECK(module.run_method("sum", x, y).toTensor().equal(x + y));
  const c10::IValue both = module.run_method("both", x, y);
  REQUIRE(both.isTuple());
  CHECK(both.toTupleRef().elements()[1].toTensor().equal(x - y));
  CHECK_FALSE(module.find_method("number"));
  CHECK_FALSE(numbers_of_nodes.empty());
}

TEST_CASE("a lowered module is a part of other modules", "[jit][backends]") {
  Module outer("Outer");
  outer.register_module("inner", lowered({"sum"}));
  outer.define("def forward(self, x, y):\n    return 2 * self.inner.sum(x, y)\n");
  const at::Tensor x = torch::ones({2});
  CHECK(outer.forward({x, x}).toTensor().equal(4 * x));
  CHECK(reloaded(outer).forward({x, x}).toTensor().equal(4 * x));
}

TEST_CASE("results of a backend must have the method's types", "[jit][backends]") {
  Module module = lowered({"number"});
  CHECK_THROWS_WITH(module.run_method("number", torch::ones({}), c10::List<int64_t>({1})), Contains("AssertionError"));
}

TEST_CASE("a backend's errors reach the caller", "[jit][backends]") {
  Module module = lowered({"sum"});
  CHECK_THROWS_WITH(module.run_method("sum", torch::ones({2}), torch::ones({3})), Contains("sizes differ"));
  c10::BackendRuntimeException error({__func__, __FILE__, 1}, "inner", 7);
  error.pushDebugHandle(3);
  CHECK(error.getDebugHandles() == std::vector<int64_t>{7, 3});
}

TEST_CASE("a module can be lowered where the backend is not available", "[jit][backends]") {
  std::stringstream file;
  {
    const Unavailable guard;
    Module module = lowered({"sum"});
    CHECK_THROWS_WITH(
        module.run_method("sum", torch::ones({2}), torch::ones({2})), Contains("Backend is not available."));
    module.save(file);
  }
  CHECK(
      torch::jit::load(file).run_method("sum", torch::ones({2}), torch::ones({2})).toTensor().sum().item<float>() == 4);
}

TEST_CASE("lowering names what is not registered", "[jit][backends]") {
  const auto any_dict = c10::DictType::create(c10::StringType::get(), c10::AnyType::get());
  const c10::Dict<c10::IValue, c10::IValue> spec(c10::StringType::get(), c10::AnyType::get());
  CHECK_THROWS_WITH(
      torch::jit::detail::codegen_backend_module("jit_test_no_such", original(), spec, any_dict),
      Contains("Preprocessing function for backend jit_test_no_such is not registered"));
  torch::jit::detail::registerBackendPreprocessFunction("jit_test_half", preprocess);
  CHECK_THROWS_WITH(
      torch::jit::detail::codegen_backend_module("jit_test_half", original(), spec, any_dict),
      Contains("Backend jit_test_half is not registered"));
  CHECK_THROWS_WITH(
      torch::jit::detail::registerBackendPreprocessFunction("jit_test_sum", preprocess),
      Contains("already registered"));
}
