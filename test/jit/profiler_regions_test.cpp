// What torch.profiler.record_function of Python becomes in a program.
#include <catch2/catch.hpp>

#include <torch/script.h>

#include <aten/observe/record_function.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/ir/irparser.h>

#include <memory>
#include <string>
#include <vector>

using namespace torch::jit;

namespace {

std::vector<std::string>& seen_regions() {
  static std::vector<std::string> seen;
  return seen;
}

std::unique_ptr<at::ObserverContext> region_begins(const at::RecordFunction& record) {
  seen_regions().push_back(std::string("begin ") + record.name());
  return nullptr;
}
void region_ends(const at::RecordFunction& record, at::ObserverContext*) {
  seen_regions().push_back(std::string("end ") + record.name());
}

GraphFunction function_of(const std::string& text) {
  auto graph = std::make_shared<Graph>();
  parseIR(text, graph.get());
  return GraphFunction("f", std::move(graph), nullptr);
}

} // namespace

TEST_CASE("regions that a program names are seen by observers", "[jit]") {
  GraphFunction function = function_of(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %outer : str = prim::Constant[value="outer"]()
  %inner : str = prim::Constant[value="inner"]()
  %region : __torch__.torch.classes.profiler._RecordFunction = profiler::_record_function_enter_new(%outer, %inner)
  %none : NoneType = prim::Constant()
  %early : Tensor = profiler::_record_function_enter(%inner, %none)
  %y : Tensor = aten::add(%x, %one, %one)
  profiler::_record_function_exit(%early)
  profiler::_record_function_exit(%region)
  return (%y)
)");
  seen_regions().clear();
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(region_begins, region_ends).scopes({at::RecordScope::USER_SCOPE}));
  const c10::IValue result = function({torch::ones({2})});
  at::removeCallback(handle);
  CHECK(result.toTensor().equal(torch::full({2}, 2.0)));
  CHECK(seen_regions() == std::vector<std::string>{"begin outer", "begin inner", "end inner", "end outer"});
  CHECK(function({torch::ones({2})}).toTensor().equal(torch::full({2}, 2.0)));
  CHECK(seen_regions().size() == 4);
}

TEST_CASE("only what began a region ends it", "[jit]") {
  GraphFunction function = function_of(R"(
graph(%x : Tensor):
  profiler::_record_function_exit(%x)
  return (%x)
)");
  CHECK_THROWS_WITH(function({torch::ones({2})}), Catch::Contains("_record_function_enter returned"));
}
