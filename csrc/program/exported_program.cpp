#include <csrc/program/exported_program.h>

#include <csrc/program/program_state.h>
#include <aten/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch {

namespace {

using c10::IValue;
using program::ProgramState;

/// (arguments, keywords) as they were when the program was exported: an argument may go by place or by name.
IValue call_tuple(const ProgramState& state, std::vector<IValue> args, const ExportedProgram::Kwargs& kwargs) {
  const auto& names = state.arg_names;
  TORCH_CHECK(
      args.size() <= names.size(), "the program takes ", names.size(), " arguments, got ", args.size(),
      " positional ones");
  const size_t num_given = args.size();
  args.resize(names.size());
  std::vector<bool> given(names.size());
  std::fill(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(num_given), true);
  for (const auto& [name, value] : kwargs) {
    const auto found = std::find(names.begin(), names.end(), name);
    TORCH_CHECK(found != names.end(), "the program takes no argument '", name, "'");
    const auto index = static_cast<size_t>(found - names.begin());
    TORCH_CHECK(!given[index], "the program got multiple values for argument '", name, "'");
    args[index] = value;
    given[index] = true;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    TORCH_CHECK(given[i], "the program is missing a value for argument '", names[i], "'");
  }
  const auto& keys = state.in_spec->children()[1].keys();
  c10::impl::GenericDict keywords(c10::StringType::get(), c10::AnyType::get());
  const size_t num_positional = names.size() - keys.size();
  for (size_t i = 0; i < keys.size(); ++i) {
    // Keywords stand in the order of the export, names in that of the function.
    const auto found =
        std::find(names.begin() + static_cast<std::ptrdiff_t>(num_positional), names.end(), keys[i].toStringRef());
    const size_t index = found == names.end() ? num_positional + i : static_cast<size_t>(found - names.begin());
    keywords.insert(keys[i], args[index]);
  }
  args.resize(num_positional);
  return c10::ivalue::Tuple::create({c10::ivalue::Tuple::create(std::move(args)), keywords});
}

std::vector<IValue> flat_inputs(
    const ProgramState& state, std::vector<IValue> args, const ExportedProgram::Kwargs& kwargs) {
  if (!state.in_spec) {
    TORCH_CHECK(kwargs.empty(), "the program's file has no names of arguments: give them by their places");
    return args;
  }
  std::vector<IValue> leaves;
  const IValue call = call_tuple(state, std::move(args), kwargs);
  const auto& parts = call.toTupleRef().elements();
  const auto& positional = parts[0].toTupleRef().elements();
  const auto& specs = state.in_spec->children()[0].children();
  for (size_t i = 0; i < specs.size(); ++i) {
    specs[i].flatten(positional[i], "argument '" + state.arg_names[i] + "'", leaves);
  }
  state.in_spec->children()[1].flatten(parts[1], "keywords", leaves);
  return leaves;
}

bool same_number(const IValue& a, const IValue& b) {
  return a.isScalar() && b.isScalar() && a.toScalar().equal(b.toScalar().toDouble());
}

/// Whether the inputs are those that the program was made for.
class InputCheck {
 public:
  explicit InputCheck(const ProgramState& state) : state_(state), sizes_(state.module->graph().sizes()) {}

  void run(const std::vector<IValue>& inputs) {
    TORCH_CHECK(
        inputs.size() == state_.inputs.size(), "the program takes ", state_.inputs.size(), " values, got ",
        inputs.size());
    // Sizes that are symbols first: they give values to those in expressions.
    for (const bool plain : {true, false}) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        check(state_.inputs[i], inputs[i], plain);
      }
    }
  }

 private:
  void check(const program::UserInput& input, const IValue& value, bool plain) {
    const std::string& name = input.node->name();
    if (input.constant) {
      const bool same = fx::same_constant(*input.constant, value) || same_number(*input.constant, value);
      TORCH_CHECK(same, "Expected input ", name, " to be equal to ", *input.constant, ", but got ", value);
      return;
    }
    const fx::TensorInfo* const info = input.node->info();
    if (!info) {
      TORCH_CHECK(!value.isNone(), "Expected input ", name, " to have a value, but got None");
      return;
    }
    TORCH_CHECK(
        value.isTensor() && value.toTensor().defined(), "Expected input ", name, " to be a tensor, but got ",
        value.tagKind());
    const at::Tensor& tensor = value.toTensor();
    TORCH_CHECK(
        tensor.dim() == static_cast<int64_t>(info->sizes.size()), "Expected input ", name, " to have ",
        info->sizes.size(), " dimensions, but got ", tensor.dim());
    for (size_t dim = 0; dim < info->sizes.size(); ++dim) {
      const fx::Dim want = info->sizes[dim];
      const bool is_plain = !want.is_expression() || sizes_.entries()[want.index()].op == fx::SizeOp::Symbol;
      if (is_plain == plain) {
        check_size(name, dim, want, tensor.size(static_cast<int64_t>(dim)));
      }
    }
  }

  void check_size(const std::string& name, size_t dim, fx::Dim want, int64_t got) {
    bool fits = false;
    try {
      fits = sizes_.bind(want, got, values_);
    } catch (const c10::Error& e) {
      TORCH_CHECK(false, "Expected input ", name, ".shape[", dim, "] to fit: ", e.what_without_backtrace());
    }
    TORCH_CHECK(
        fits, "Expected input ", name, ".shape[", dim, "] to be equal to ", sizes_.print(want), ", but got ", got);
  }

  const ProgramState& state_;
  const fx::SizeTable& sizes_;
  fx::SymbolValues values_;
};

/// Gradients that the graph computed go where backward() would put them.
void add_gradients(const ProgramState& state, const std::vector<IValue>& inputs, const std::vector<IValue>& results) {
  const c10::NoGradGuard no_grad;
  for (const program::GradientOutput& gradient : state.gradients) {
    at::Tensor target;
    if (gradient.kind == OutputKind::GRADIENT_TO_PARAMETER) {
      target = state.module->attr(gradient.target).toTensor();
    } else {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (state.inputs[i].node->name() == gradient.target && inputs[i].isTensor()) {
          target = inputs[i].toTensor();
        }
      }
    }
    if (target.defined() && results[gradient.result].isTensor()) {
      const at::Tensor& value = results[gradient.result].toTensor();
      at::Tensor& grad = target.mutable_grad();
      grad = grad.defined() ? grad + value : value.clone();
    }
  }
}

} // namespace

IValue ExportedProgram::forward(std::vector<IValue> args, const Kwargs& kwargs) const {
  const std::vector<IValue> inputs = flat_inputs(*state_, std::move(args), kwargs);
  InputCheck(*state_).run(inputs);
  std::vector<IValue> results = state_->module->forward(inputs);
  if (!state_->gradients.empty()) {
    add_gradients(*state_, inputs, results);
    results.resize(state_->num_user_results);
  }
  if (!state_->out_spec) {
    return results.size() == 1 ? results[0] : IValue(c10::ivalue::Tuple::create(std::move(results)));
  }
  size_t next = 0;
  IValue out = state_->out_spec->unflatten(results, next);
  TORCH_CHECK(next == results.size(), "the program gave more results than its tree spec has leaves");
  return out;
}

fx::GraphModule& ExportedProgram::module() const {
  return *state_->module;
}
fx::Graph& ExportedProgram::graph() const {
  return state_->module->graph();
}
const ExportGraphSignature& ExportedProgram::graph_signature() const {
  return state_->signature;
}
const std::map<std::string, RangeConstraint>& ExportedProgram::range_constraints() const {
  return state_->ranges;
}
const std::vector<std::string>& ExportedProgram::forward_arg_names() const {
  return state_->arg_names;
}
const std::string& ExportedProgram::torch_version() const {
  return state_->torch_version;
}

std::map<std::string, at::Tensor> ExportedProgram::state_dict() const {
  std::map<std::string, at::Tensor> state;
  for (const auto* names : {&state_->parameters, &state_->buffers}) {
    for (const std::string& name : *names) {
      state[name] = state_->module->attr(name).toTensor();
    }
  }
  return state;
}

} // namespace torch
