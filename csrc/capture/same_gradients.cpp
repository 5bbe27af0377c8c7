#include <csrc/capture/same_gradients.h>

#include <csrc/fx/interpreter.h>
#include <aten/Functions.h>
#include <autograd/edge.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace torch::capture {

namespace {

using autograd::Edge;
using autograd::Node;

/// Where the graph of autograd came from outside: edges by number of the tensor.
class Boundary {
 public:
  void add(const Edge& edge, int number) {
    if (edge.function) {
      numbers_[{edge.function.get(), edge.input_nr}] = number;
      keep_.push_back(edge);
    }
  }
  int find(const Edge& edge) const {
    const auto found = numbers_.find({edge.function.get(), edge.input_nr});
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  std::map<std::pair<const Node*, uint32_t>, int> numbers_;
  std::vector<Edge> keep_;
};

Edge edge_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad() ? autograd::impl::gradient_edge(tensor) : Edge();
}

at::Tensor meta_copy(const at::Tensor& tensor, functionalize::History history) {
  if (tensor.defined() && tensor.layout() != c10::kStrided) {
    const c10::AutoGradMode on(true);
    at::Tensor copy = at::empty(tensor.sizes(), at::TensorOptions(c10::kMeta).dtype(tensor.scalar_type()));
    copy.set_requires_grad(history != functionalize::History::None);
    return copy;
  }
  return functionalize::meta_like({tensor}, {history})[0];
}

/// Runs without data, each attribute as one meta tensor.
class MetaRun : public fx::Interpreter {
 public:
  using Histories = std::unordered_map<std::string, HistoryBefore>;
  MetaRun(const fx::GraphModule& module, const Histories& histories) : Interpreter(module), histories_(histories) {}

  struct Attribute {
    at::Tensor copy;
    Edge edge;
  };
  std::map<std::string, Attribute> attributes;

 protected:
  c10::IValue get_attr(const fx::Node& node) override {
    c10::IValue value = Interpreter::get_attr(node);
    if (!value.isTensor()) {
      return value;
    }
    Attribute& attribute = attributes[node.target()];
    if (!attribute.copy.defined()) {
      const auto known = histories_.find(node.target());
      attribute.copy =
          meta_copy(value.toTensor(), known == histories_.end() ? functionalize::History::None : known->second.history);
      attribute.edge = edge_of(attribute.copy);
    }
    return attribute.copy;
  }
  void call_operator(const fx::Node& node, torch::jit::Stack& stack) override {
    functionalize::use_meta_device(node.schema(), stack);
    Interpreter::call_operator(node, stack);
  }

 private:
  const Histories& histories_;
};

size_t count_hooks(Node& node) {
  return node.tensor_pre_hooks().size() + node.pre_hooks().size() + node.post_hooks().size() +
      node.retains_grad_hooks().size();
}

class Comparison {
 public:
  Boundary code, graph;

  /// The first difference; empty if there is none.
  std::string run(const Edge& from_code, const Edge& from_graph) {
    std::vector<std::pair<Edge, Edge>> pending{{from_code, from_graph}};
    while (!pending.empty()) {
      const auto [a, b] = pending.back();
      pending.pop_back();
      std::string difference = compare(a, b, pending);
      if (!difference.empty()) {
        return difference;
      }
    }
    return {};
  }

 private:
  /// Copies that the dispatcher makes below Autograd, of conjugates that a kernel does not take as they are, are
  /// operators in graphs: gradients go through them unchanged.
  Edge without_copies(Edge edge, const Edge& like) const {
    const auto is_copy = [](const Edge& each) { return each.function && each.function->name() == "CloneBackward0"; };
    while (is_copy(edge) && !is_copy(like) && graph.find(edge) < 0) {
      edge = edge.function->next_edge(0);
    }
    return edge;
  }

  /// Where the inputs of a transform (torch::func) begin, gradients flow on unchanged.
  Edge without_transforms(Edge edge) const {
    while (edge.function && edge.function->name() == "FuncInput" && code.find(edge) < 0) {
      edge = edge.function->num_outputs() == 0 ? Edge() : edge.function->next_edge(0);
    }
    return edge;
  }

  std::string compare(const Edge& in_code_at, const Edge& recorded, std::vector<std::pair<Edge, Edge>>& pending) {
    const Edge a = without_transforms(in_code_at);
    const Edge b = without_copies(recorded, a);
    const int in_code = code.find(a), in_graph = graph.find(b);
    if (in_code >= 0 || in_graph >= 0) {
      return in_code == in_graph ? "" : "another tensor gets a gradient";
    }
    if (!a.function || !b.function) {
      return !a.function && !b.function
          ? ""
          : "a tensor gets its gradient by no operator, but by a function with a derivative of its own or by data()";
    }
    if (!seen_.emplace(a.function.get(), b.function.get()).second) {
      return {};
    }
    if (a.function->name() != b.function->name() || a.function->num_outputs() != b.function->num_outputs()) {
      return "the derivative " + a.function->name() + " is not that of an operator (" + b.function->name() +
          " stands there): functions with a derivative of their own cannot be captured";
    }
    if (count_hooks(*a.function) != count_hooks(*b.function)) {
      return "there is a hook on " + a.function->name() + ": hooks cannot be captured";
    }
    for (size_t i = 0; i < a.function->num_outputs(); ++i) {
      pending.emplace_back(a.function->next_edge(i), b.function->next_edge(i));
    }
    return {};
  }

  std::set<std::pair<const Node*, const Node*>> seen_;
};

bool requires_grad(const at::Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad();
}

std::vector<at::Tensor> meta_inputs(const std::vector<at::Tensor>& inputs, const std::vector<HistoryBefore>& before) {
  std::vector<functionalize::History> histories;
  bool are_strided = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    histories.push_back(before[i].history);
    are_strided = are_strided && (!inputs[i].defined() || inputs[i].layout() == c10::kStrided);
  }
  if (are_strided) {
    return functionalize::meta_like(inputs, histories);
  }
  std::vector<at::Tensor> copies;
  for (size_t i = 0; i < inputs.size(); ++i) {
    copies.push_back(meta_copy(inputs[i], histories[i]));
  }
  return copies;
}

/// The first difference between the histories of tensors of the code and of the graph.
std::string compare_all(
    Comparison& comparison, const std::vector<at::Tensor>& code, const std::vector<at::Tensor>& graph) {
  for (size_t i = 0; i < code.size(); ++i) {
    const bool wanted = requires_grad(code[i]);
    if (wanted != requires_grad(graph[i])) {
      return wanted ? "a result requires grad that operators alone would not make so"
                    : "a result does not require grad though operators would make it so: detach it by detach()";
    }
    std::string difference = wanted ? comparison.run(edge_of(code[i]), edge_of(graph[i])) : std::string();
    if (!difference.empty()) {
      return difference;
    }
  }
  return {};
}

} // namespace

HistoryBefore HistoryBefore::of(const at::Tensor& tensor) {
  return {functionalize::histories_of({tensor})[0], edge_of(tensor)};
}

std::string difference_of_gradients(
    const fx::GraphModule& module,
    const std::vector<at::Tensor>& inputs,
    const std::vector<HistoryBefore>& before,
    const std::unordered_map<std::string, HistoryBefore>& attributes,
    const std::vector<at::Tensor>& results) {
  const auto has_history = [](const auto& each) { return each.history != functionalize::History::None; };
  const bool any = std::any_of(inputs.begin(), inputs.end(), requires_grad) ||
      std::any_of(results.begin(), results.end(), requires_grad) ||
      std::any_of(before.begin(), before.end(), has_history) ||
      std::any_of(attributes.begin(), attributes.end(), [&](const auto& each) { return has_history(each.second); });
  if (!any) {
    return {};
  }
  Comparison comparison;
  MetaRun run(module, attributes);
  const std::vector<at::Tensor> copies = meta_inputs(inputs, before);
  for (size_t i = 0; i < copies.size(); ++i) {
    comparison.code.add(before[i].edge, static_cast<int>(i));
    comparison.graph.add(edge_of(copies[i]), static_cast<int>(i));
  }
  std::vector<at::Tensor> outputs;
  try {
    const c10::AutoGradMode mode(c10::GradMode::is_enabled());
    for (const c10::IValue& output : run.run(std::vector<c10::IValue>(copies.begin(), copies.end()))) {
      outputs.push_back(output.isTensor() ? output.toTensor() : at::Tensor());
    }
  } catch (const c10::Error& e) {
    return std::string("its gradients cannot be checked without data: ") + e.what_without_backtrace();
  }
  int number = static_cast<int>(inputs.size());
  for (const auto& [path, attribute] : run.attributes) {
    const auto known = attributes.find(path);
    comparison.code.add(known == attributes.end() ? Edge() : known->second.edge, number);
    comparison.graph.add(attribute.edge, number++);
  }
  std::string difference = compare_all(comparison, results, outputs);
  // What is the same tensor several times has its history in the last of its copies.
  std::vector<at::Tensor> code, graph;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool again = std::any_of(inputs.begin() + static_cast<std::ptrdiff_t>(i) + 1, inputs.end(), [&](auto& other) {
      return other.is_same(inputs[i]);
    });
    if (!again) {
      code.push_back(inputs[i]);
      graph.push_back(copies[i]);
    }
  }
  return difference.empty() ? compare_all(comparison, code, graph) : difference;
}

} // namespace torch::capture
