#include <autograd/autograd_not_implemented_fallback.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <aten/core/stack.h>
#include <autograd/VariableTypeUtils.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/view_func.h>
#include <c10/util/StringUtil.h>

#include <atomic>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::autograd {

namespace {

std::atomic<AutogradFallbackMode> fallback_mode{AutogradFallbackMode::Warn};

// Passes no gradient on, and says that this may not be meant.
struct WarnNotImplemented : public Node {
  WarnNotImplemented(std::string op_name_, size_t num_outputs_, edge_list&& next_edges)
      : Node(std::move(next_edges)), op_name(std::move(op_name_)), num_outputs(num_outputs_) {}

  variable_list apply(variable_list&& /*inputs*/) override {
    TORCH_WARN(
        op_name,
        ": an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This "
        "may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future version. "
        "If your operator is differentiable, please ensure you have registered an autograd kernel to the correct "
        "Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your operator is not "
        "differentiable, or to squash this warning and use the previous behavior, please register "
        "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.");
    return variable_list(num_outputs);
  }

  std::string op_name;
  size_t num_outputs;
};

// Calls f(tensor, position) for each tensor in `stack`'s values [begin, begin + count), also those in lists.
template <typename F>
void for_each_tensor(const torch::jit::Stack& stack, size_t begin, size_t count, F f) {
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue& value = stack[begin + i];
    if (value.isTensor()) {
      f(value.toTensor(), i);
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        f(tensor, i);
      }
    } else if (value.isOptionalTensorList()) {
      const auto list = value.toOptionalTensorList();
      for (size_t k = 0; k < list.size(); ++k) {
        const auto tensor = static_cast<std::optional<at::Tensor>>(list.get(k));
        if (tensor.has_value()) {
          f(*tensor, i);
        }
      }
    }
  }
}

// The inputs that take part in the graph.
std::vector<at::Tensor> inputs_that_require_grad(const torch::jit::Stack& stack, size_t begin, size_t count) {
  std::vector<at::Tensor> inputs;
  if (GradMode::is_enabled()) {
    for_each_tensor(stack, begin, count, [&](const at::Tensor& tensor, size_t) {
      if (tensor.defined() && tensor.requires_grad()) {
        inputs.push_back(tensor);
      }
    });
  }
  return inputs;
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

void basic_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) {
  detail::basic_autograd_not_implemented_fallback(op, dispatch_keys, stack);
}

// Whether output number `i` is one of the inputs, or memory of one, by the schema.
bool aliases_input(const c10::FunctionSchema& schema, size_t i) {
  return schema.returns()[i].alias_info() != nullptr;
}

void not_implemented_fallback(
    const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const std::string op_name = schema.operator_name().name;
  const size_t num_arguments = schema.arguments().size();
  const size_t begin = stack->size() - num_arguments;
  const std::vector<at::Tensor> inputs = inputs_that_require_grad(*stack, begin, num_arguments);
  const bool recorded = !inputs.empty();

  for_each_tensor(*stack, begin, num_arguments, [&](const at::Tensor& tensor, size_t i) {
    if (is_written(schema.arguments()[i])) {
      check_inplace(tensor, recorded);
    }
  });
  std::shared_ptr<NotImplemented> grad_fn;
  if (recorded) {
    grad_fn = make_node<NotImplemented>(op_name, collect_next_edges(inputs));
  }

  {
    const at::AutoDispatchBelowAutograd guard;
    op.redispatchBoxed(dispatch_keys & c10::after_autograd_keyset, stack);
  }
  if (!grad_fn) {
    return;
  }
  const size_t num_returns = schema.returns().size();
  for_each_tensor(*stack, stack->size() - num_returns, num_returns, [&](const at::Tensor& tensor, size_t i) {
    if (!tensor.defined() || !isDifferentiableType(tensor.scalar_type())) {
      return;
    }
    if (is_written(schema.returns()[i])) {
      // A changed view rewrites its base's history, which takes a node of its own.
      rebase_history(tensor, make_node<NotImplemented>(op_name, collect_next_edges(inputs)));
    } else {
      set_history(tensor, grad_fn);
    }
  });
}

void inplace_or_view_fallback(
    const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const auto& arguments = schema.arguments();
  const auto& returns = schema.returns();
  const size_t begin = stack->size() - arguments.size();

  // The argument that a view output refers to, by its alias set.
  std::optional<size_t> viewed;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = arguments[i].alias_info();
    if (alias == nullptr || alias->isWrite()) {
      continue;
    }
    for (const c10::Argument& result : returns) {
      if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) {
        TORCH_CHECK(
            !viewed.has_value() || *viewed == i, "Fallback only supports operators where a single argument is viewed, ",
            "but ", schema.operator_name(), " has several");
        viewed = i;
      }
    }
  }
  at::Tensor base;
  if (viewed.has_value() && (*stack)[begin + *viewed].isTensor()) {
    base = (*stack)[begin + *viewed].toTensor();
  }
  std::vector<at::Tensor> written;
  for_each_tensor(*stack, begin, arguments.size(), [&](const at::Tensor& tensor, size_t i) {
    if (is_written(arguments[i]) && tensor.defined()) {
      written.push_back(tensor);
    }
  });

  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(dispatch_keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  for (const at::Tensor& tensor : written) {
    increment_version(tensor);
  }
  if (!base.defined()) {
    return;
  }
  // This operator cannot be repeated on another base.
  const ErroringViewFunc no_way(c10::str(
      "Mutating the view ", schema.operator_name().name, " which does not have a derivative implemented is forbidden. ",
      "Change a clone of it"));
  const size_t results = stack->size() - returns.size();
  for (size_t i = 0; i < returns.size(); ++i) {
    if (!aliases_input(schema, i) || is_written(returns[i])) {
      continue;
    }
    c10::IValue& value = (*stack)[results + i];
    if (value.isTensorList()) {
      value = as_view(base, value.toTensorVector(), true, true, view_creation_meta(/*multiple_outputs=*/true));
    } else if (value.isTensor()) {
      const CreationMeta meta = view_creation_meta();
      value = as_view(
          base, std::move(value).toTensor(), true, true, no_way.clone_and_set(),
          meta == CreationMeta::DEFAULT ? CreationMeta::IN_CUSTOM_FUNCTION : meta);
    }
  }
}

} // namespace

namespace detail {

void basic_autograd_not_implemented_fallback(
    const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) {
  const AutogradFallbackMode mode = getAutogradFallbackMode();
  const c10::FunctionSchema& schema = op.schema();
  const size_t num_arguments = schema.arguments().size();
  const size_t num_returns = schema.returns().size();
  std::vector<at::Tensor> inputs;
  if (mode != AutogradFallbackMode::Nothing && num_returns != 0) {
    inputs = inputs_that_require_grad(*stack, stack->size() - num_arguments, num_arguments);
  }
  std::unordered_set<const c10::TensorImpl*> input_tensors;
  for (const at::Tensor& input : inputs) {
    input_tensors.insert(input.unsafeGetTensorImpl());
  }

  op.redispatchBoxed(dispatch_keys & c10::after_autograd_keyset, stack);
  if (inputs.empty()) {
    return;
  }

  // The kernel may well be differentiable by itself, made of operators that are recorded: then its outputs have a
  // history already. Only outputs without one, which the user may wrongly take for differentiable, get the node.
  const std::string op_name = c10::toString(schema.operator_name());
  for_each_tensor(*stack, stack->size() - num_returns, num_returns, [&](const at::Tensor& tensor, size_t i) {
    if (!tensor.defined() || tensor.requires_grad() || tensor.is_inference() ||
        !isDifferentiableType(tensor.scalar_type()) || input_tensors.count(tensor.unsafeGetTensorImpl()) != 0 ||
        aliases_input(schema, i)) {
      return;
    }
    std::shared_ptr<Node> node;
    if (mode == AutogradFallbackMode::Error) {
      node = make_node<NotImplemented>(op_name, collect_next_edges(inputs));
    } else {
      node = make_node<WarnNotImplemented>(op_name, inputs.size(), collect_next_edges(inputs));
    }
    set_history(tensor, node);
  });
}

} // namespace detail

torch::CppFunction autogradNotImplementedFallback() {
  return torch::CppFunction::makeFromBoxedFunction<&not_implemented_fallback>();
}

torch::CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return torch::CppFunction::makeFromBoxedFunction<&inplace_or_view_fallback>();
}

torch::CppFunction basicAutogradNotImplementedFallback() {
  return torch::CppFunction::makeFromBoxedFunction<&basic_fallback>();
}

void setAutogradFallbackMode(AutogradFallbackMode mode) {
  fallback_mode.store(mode, std::memory_order_relaxed);
}

AutogradFallbackMode getAutogradFallbackMode() {
  return fallback_mode.load(std::memory_order_relaxed);
}

} // namespace torch::autograd
