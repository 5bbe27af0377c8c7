#include <autograd/operator_formula.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/boxing/OperatorKernel.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>
#include <autograd/function.h>
#include <autograd/grad_mode.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::autograd {

namespace {

struct Formula {
  FormulaBackward backward;
  FormulaSetup setup_context;
};

struct FormulaNode final : CustomNode {
  FormulaNode(std::shared_ptr<const Formula> formula_, std::string op_name_)
      : formula(std::move(formula_)), op_name(std::move(op_name_)) {}

  std::string name() const override {
    return op_name + "Backward";
  }

  const std::shared_ptr<const Formula> formula;
  const std::string op_name;

 protected:
  variable_list call_backward(variable_list grads) override {
    return formula->backward(&ctx_, std::move(grads));
  }
};

// The tensors among the arguments, and whether each place that may get a gradient is one.
struct FormulaInputs {
  explicit FormulaInputs(c10::ArrayRef<c10::IValue> arguments) {
    for (const c10::IValue& argument : arguments) {
      if (argument.isTensor()) {
        add(argument.toTensor());
      } else if (argument.isTensorList()) {
        for (const at::Tensor& tensor : argument.toTensorVector()) {
          add(tensor);
        }
      } else if (argument.isOptionalTensorList()) {
        const auto list = argument.toOptionalTensorList();
        for (size_t i = 0; i < list.size(); ++i) {
          add(static_cast<std::optional<at::Tensor>>(list.get(i)).value_or(at::Tensor()));
        }
      } else {
        is_variable.push_back(false);
      }
    }
  }
  void add(const at::Tensor& tensor) {
    is_variable.push_back(tensor.defined() ? 1 : 0);
    if (tensor.defined()) {
      tensors.push_back(tensor);
    }
  }

  variable_list tensors;
  VariableFlags is_variable;
};

variable_list tensors_of(c10::ArrayRef<c10::IValue> results) {
  variable_list tensors;
  for (const c10::IValue& result : results) {
    if (result.isTensor()) {
      tensors.push_back(result.toTensor());
    } else if (result.isTensorList()) {
      const std::vector<at::Tensor> list = result.toTensorVector();
      tensors.insert(tensors.end(), list.begin(), list.end());
    }
  }
  return tensors;
}

// Puts tensors in the places that tensors_of found them at.
void replace_tensors(std::vector<c10::IValue>& results, variable_list&& tensors) {
  size_t next = 0;
  for (c10::IValue& result : results) {
    if (result.isTensor()) {
      result = std::move(tensors[next++]);
    } else if (result.isTensorList()) {
      std::vector<at::Tensor> list = result.toTensorVector();
      for (at::Tensor& tensor : list) {
        tensor = std::move(tensors[next++]);
      }
      result = std::move(list);
    }
  }
}

class FormulaKernel final : public c10::OperatorKernel {
 public:
  explicit FormulaKernel(Formula formula) : formula_(std::make_shared<const Formula>(std::move(formula))) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) const {
    const c10::FunctionSchema& schema = op.schema();
    for (const c10::Argument& argument : schema.arguments()) {
      TORCH_CHECK(
          argument.alias_info() == nullptr || !argument.alias_info()->isWrite(),
          "Cannot register autograd formula for non-functional operator ", schema.operator_name(), ": it writes to ",
          argument.name(), ". Register an Autograd kernel that uses torch::autograd::Function.");
    }
    const auto first = stack->end() - static_cast<std::ptrdiff_t>(schema.arguments().size());
    const std::vector<c10::IValue> arguments(first, stack->end());
    FormulaInputs inputs{arguments};
    const auto node = make_node<FormulaNode>(formula_, schema.operator_name().name);
    const bool recorded = node->begin(inputs.tensors, std::move(inputs.is_variable));
    {
      const at::AutoDispatchBelowAutograd below;
      op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
    }
    if (!recorded) {
      return;
    }
    const auto first_result = stack->end() - static_cast<std::ptrdiff_t>(schema.returns().size());
    std::vector<c10::IValue> results(first_result, stack->end());
    if (formula_->setup_context) {
      const AutoGradMode no_grad(false);
      formula_->setup_context(&node->ctx_, arguments, results);
    }
    replace_tensors(results, node->finish(inputs.tensors, tensors_of(results), recorded));
    std::move(results.begin(), results.end(), first_result);
  }

 private:
  const std::shared_ptr<const Formula> formula_;
};

} // namespace

torch::CppFunction autogradFormula(FormulaBackward backward, FormulaSetup setup_context) {
  TORCH_CHECK(backward != nullptr, "autogradFormula: got no function for backward");
  return torch::CppFunction::makeFromBoxedFunctor(
      std::make_unique<FormulaKernel>(Formula{std::move(backward), std::move(setup_context)}));
}

} // namespace torch::autograd
