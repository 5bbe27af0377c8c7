#include <csrc/capture/same_gradients.h>

#include <csrc/fx/interpreter.h>
#include <aten/Functions.h>
#include <autograd/edge.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

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
  void add(const at::Tensor& tensor, int number) {
    if (tensor.defined() && tensor.requires_grad()) {
      const Edge edge = autograd::impl::gradient_edge(tensor);
      numbers_[{edge.function.get(), edge.input_nr}] = number;
      keep_.push_back(edge); // else a new accumulator is made each time
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

at::Tensor meta_copy(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return tensor;
  }
  const c10::AutoGradMode on(true);
  const auto options = at::TensorOptions(c10::kMeta).dtype(tensor.scalar_type());
  at::Tensor copy = tensor.layout() == c10::kStrided ? at::empty_strided(tensor.sizes(), tensor.strides(), options)
                                                     : at::empty(tensor.sizes(), options);
  if (tensor.requires_grad()) {
    copy.set_requires_grad(true);
    // What has a history may be written to, a leaf may not.
    copy = tensor.is_leaf() ? copy : copy.view_as(copy);
  }
  return copy;
}

/// Runs without data, each attribute as one meta tensor.
class MetaRun : public fx::Interpreter {
 public:
  using Interpreter::Interpreter;
  std::map<std::string, at::Tensor> attributes;

 protected:
  c10::IValue get_attr(const fx::Node& node) override {
    c10::IValue value = Interpreter::get_attr(node);
    if (!value.isTensor()) {
      return value;
    }
    const auto found = attributes.find(node.target());
    return found != attributes.end() ? found->second
                                     : attributes.emplace(node.target(), meta_copy(value.toTensor())).first->second;
  }
  void call_operator(const fx::Node& node, torch::jit::Stack& stack) override {
    bool takes_tensor = false;
    for (const c10::IValue& value : stack) {
      takes_tensor = takes_tensor || value.isTensor() || value.isTensorList();
    }
    const auto& formals = node.schema().arguments();
    for (size_t i = 0; i < formals.size(); ++i) {
      if (formals[i].type()->str().find("Device") != std::string::npos && (stack[i].isDevice() || !takes_tensor)) {
        stack[i] = c10::Device(c10::kMeta);
      }
    }
    Interpreter::call_operator(node, stack);
  }
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
  std::string compare(const Edge& a, const Edge& b, std::vector<std::pair<Edge, Edge>>& pending) {
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

bool needs_check(
    const fx::GraphModule& module, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& results) {
  bool requires_grad = false;
  for (const auto* tensors : {&inputs, &results}) {
    for (const at::Tensor& tensor : *tensors) {
      requires_grad = requires_grad || (tensor.defined() && tensor.requires_grad());
    }
  }
  for (const fx::Node* node : module.graph().nodes()) {
    if (node->kind() == fx::NodeKind::GetAttr) {
      const c10::IValue& value = module.attr(node->target());
      requires_grad = requires_grad || (value.isTensor() && value.toTensor().requires_grad());
    }
  }
  return requires_grad;
}

} // namespace

std::string difference_of_gradients(
    const fx::GraphModule& module, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& results) {
  if (!needs_check(module, inputs, results)) {
    return {};
  }
  Comparison comparison;
  MetaRun run(module);
  std::vector<c10::IValue> copies;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor copy = meta_copy(inputs[i]);
    comparison.code.add(inputs[i], static_cast<int>(i));
    comparison.graph.add(copy, static_cast<int>(i));
    copies.emplace_back(copy);
  }
  std::vector<c10::IValue> outputs;
  try {
    const c10::AutoGradMode mode(c10::GradMode::is_enabled());
    outputs = run.run(std::move(copies));
  } catch (const c10::Error& e) {
    return std::string("its gradients cannot be checked without data: ") + e.what_without_backtrace();
  }
  int number = static_cast<int>(inputs.size());
  for (const auto& [path, copy] : run.attributes) {
    comparison.code.add(module.attr(path).toTensor(), number);
    comparison.graph.add(copy, number++);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor& made = outputs[i].toTensor();
    const bool wanted = results[i].defined() && results[i].requires_grad();
    if (wanted != (made.defined() && made.requires_grad())) {
      return wanted ? "a result requires grad that operators alone would not make so"
                    : "a result does not require grad though operators would make it so: detach it by detach()";
    }
    if (wanted) {
      const std::string difference =
          comparison.run(autograd::impl::gradient_edge(results[i]), autograd::impl::gradient_edge(made));
      if (!difference.empty()) {
        return difference;
      }
    }
  }
  return {};
}

} // namespace torch::capture
