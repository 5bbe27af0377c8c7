#include <csrc/fx/passes.h>

#include <csrc/fx/interpreter.h>
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace torch::fx {

namespace {

at::Tensor meta_like(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta()) {
    return tensor;
  }
  const auto options = at::TensorOptions(c10::kMeta).dtype(tensor.scalar_type());
  return tensor.layout() == c10::kStrided ? at::empty_strided(tensor.sizes(), tensor.strides(), options)
                                          : at::empty(tensor.sizes(), options);
}

at::Tensor meta_from(const Node& node) {
  const TensorInfo* const info = node.info();
  TORCH_CHECK(info, "propagate_shapes: nothing is known of input %", node.name(), "; give examples of the inputs");
  std::vector<int64_t> sizes, strides;
  for (const auto& [from, to] : {std::pair(&info->sizes, &sizes), std::pair(&info->strides, &strides)}) {
    for (const Dim dim : *from) {
      TORCH_CHECK(
          !dim.is_expression(), "propagate_shapes: a size of input %", node.name(),
          " is a symbol; give examples of the inputs");
      to->push_back(dim.value());
    }
  }
  const auto options = at::TensorOptions(c10::kMeta).dtype(info->dtype);
  return strides.size() == sizes.size() ? at::empty_strided(sizes, strides, options) : at::empty(sizes, options);
}

bool is_device(const c10::Argument& formal) {
  return formal.type()->str().find("Device") != std::string::npos;
}

/// Runs each step without data.
class ShapeRunner : public Interpreter {
 public:
  ShapeRunner(GraphModule& module, bool has_inputs) : Interpreter(module), has_inputs_(has_inputs) {}

 protected:
  c10::IValue placeholder(const Node& node, c10::IValue input) override {
    if (!has_inputs_) {
      device_.insert_or_assign(&node, node.info() ? node.info()->device : c10::Device(c10::kCPU));
      return meta_from(node);
    }
    if (!input.isTensor()) {
      return input;
    }
    device_.insert_or_assign(&node, input.toTensor().device());
    return note(node, 0, meta_like(input.toTensor()));
  }

  c10::IValue get_attr(const Node& node) override {
    c10::IValue value = Interpreter::get_attr(node);
    if (!value.isTensor()) {
      return value;
    }
    device_.insert_or_assign(&node, value.toTensor().device());
    return note(node, 0, meta_like(value.toTensor()));
  }

  void call_operator(const Node& node, torch::jit::Stack& stack) override {
    device_.insert_or_assign(&node, device_of(node));
    const auto& formals = node.schema().arguments();
    bool takes_tensor = false;
    for (size_t i = 0; i < formals.size(); ++i) {
      takes_tensor = takes_tensor || stack[i].isTensor() || stack[i].isTensorList();
    }
    for (size_t i = 0; i < formals.size(); ++i) {
      if (is_device(formals[i]) && (stack[i].isDevice() || !takes_tensor)) {
        stack[i] = c10::Device(c10::kMeta);
      } else if (stack[i].isTensor() && !stack[i].toTensor().unsafeGetTensorImpl()->is_wrapped_number()) {
        stack[i] = meta_like(stack[i].toTensor());
      }
    }
    try {
      Interpreter::call_operator(node, stack);
    } catch (const c10::Error& e) {
      TORCH_CHECK(
          false, "propagate_shapes: node %", node.name(), " (", node.target(), "): ", e.what_without_backtrace());
    }
    for (uint32_t i = 0; i < node.num_results() && i < stack.size(); ++i) {
      if (stack[i].isTensor() && stack[i].toTensor().defined()) {
        note(node, i, stack[i].toTensor());
      }
    }
  }

  std::vector<c10::IValue> call_function(const Node& node, std::vector<Operand>& operands) override {
    device_.insert_or_assign(&node, device_of(node));
    std::vector<c10::IValue> results;
    try {
      results = Interpreter::call_function(node, operands);
    } catch (const c10::Error& e) {
      TORCH_CHECK(
          false, "propagate_shapes: node %", node.name(), " (", node.target(), "): ", e.what_without_backtrace());
    }
    for (uint32_t i = 0; i < node.num_results() && i < results.size(); ++i) {
      if (results[i].isTensor() && results[i].toTensor().defined()) {
        note(node, i, results[i].toTensor());
      }
    }
    return results;
  }

 private:
  /// Where the result lies when the graph runs.
  c10::Device device_of(const Node& node) const {
    if (node.is_operator()) {
      for (size_t i = 0; i < node.args().size(); ++i) {
        if (node.args()[i].is_constant() && node.args()[i].constant().isDevice()) {
          return node.args()[i].constant().toDevice();
        }
      }
    }
    for (const Node* input : node.all_input_nodes()) {
      const auto found = device_.find(input);
      if (found != device_.end()) {
        return found->second;
      }
    }
    return c10::kCPU;
  }

  at::Tensor note(const Node& node, uint32_t result, const at::Tensor& tensor) {
    TensorInfo info = TensorInfo::of(tensor);
    info.device = device_.at(&node);
    const_cast<Node&>(node).set_info(std::move(info), result); // the module is the caller's to change
    return tensor;
  }

  bool has_inputs_;
  std::unordered_map<const Node*, c10::Device> device_; // that the results pretend to be on
};

} // namespace

void propagate_shapes(GraphModule& module, const std::vector<c10::IValue>& inputs) {
  const c10::NoGradGuard no_grad;
  const size_t count = module.graph().placeholders().size();
  const bool has_inputs = !inputs.empty() || count == 0;
  ShapeRunner(module, has_inputs).run(has_inputs ? inputs : std::vector<c10::IValue>(count));
}

} // namespace torch::fx
