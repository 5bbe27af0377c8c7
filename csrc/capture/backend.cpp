// The table of backends, and the one that runs graphs operator by operator.
#include <csrc/capture/backend.h>

#include <csrc/functionalize/reinplace.h>
#include <csrc/fx/interpreter.h>
#include <csrc/fx/graph_module.h>
#include <c10/util/Exception.h>

#include <map>
#include <mutex>
#include <utility>

namespace torch::capture {

namespace {

/// Boxed calls, each value let go after its last use.
CompiledGraph interpret(const BackendInput& input) {
  const std::shared_ptr<fx::Graph> graph = input.graph->copy();
  functionalize::reinplace(*graph);
  const auto module = std::make_shared<const fx::GraphModule>(graph, "Graph");
  return [module](std::vector<at::Tensor>& inputs) {
    std::vector<c10::IValue> values(std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end()));
    inputs.clear();
    std::vector<at::Tensor> results;
    for (c10::IValue& result : module->forward(std::move(values))) {
      results.push_back(result.isTensor() ? std::move(result).toTensor() : at::Tensor());
    }
    return results;
  };
}

struct Table {
  std::mutex mutex;
  std::map<std::string, Backend> backends{{"aot_eager", interpret}};
};

Table& table() {
  static auto* const table = new Table(); // is used until the process ends
  return *table;
}

} // namespace

void register_backend(const std::string& name, Backend backend) {
  TORCH_CHECK(backend != nullptr, "register_backend: '", name, "' is empty");
  TORCH_CHECK(
      !name.empty() && name != "eager", "register_backend: '", name, "' is no name for a backend of functional graphs");
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.backends[name] = std::move(backend);
}

Backend find_backend(const std::string& name) {
  Table& all = table();
  std::string names;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.backends.find(name);
    if (found != all.backends.end()) {
      return found->second;
    }
    for (const auto& [known, backend] : all.backends) {
      names += ", " + known;
    }
  }
  TORCH_CHECK(false, "Invalid backend: '", name, "', should be one of: eager", names);
}

std::vector<std::string> list_backends() {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, backend] : all.backends) {
    names.push_back(name);
  }
  return names;
}

} // namespace torch::capture
