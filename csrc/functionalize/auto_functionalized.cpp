#include <csrc/functionalize/auto_functionalized.h>

#include <csrc/fx/coerce.h>
#include <csrc/fx/function.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <mutex>

namespace torch::functionalize {

namespace {

using c10::IValue;
using fx::Operand;

IValue with_own_memory(const IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) {
      return value;
    }
    at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
    copy.copy_(tensor);
    return copy;
  }
  c10::List<at::Tensor> copies;
  for (const IValue& item : value.toListRef()) {
    copies.push_back(with_own_memory(item).toTensor());
  }
  return copies;
}

/// Operands: the operator, how many arguments are written to, which, and the arguments.
std::vector<IValue> run_on_copies(fx::GraphRunner&, std::vector<Operand>& operands) {
  TORCH_CHECK(operands.size() >= 2, "auto_functionalized: expected an operator");
  const auto name = c10::OperatorNameView::parse(operands[0].value.toStringRef());
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
      std::string(name.name).c_str(), std::string(name.overload_name).c_str());
  const auto& formals = op.schema().arguments();
  const std::vector<int64_t> written = operands[1].value.toIntVector();
  TORCH_CHECK(operands.size() == formals.size() + 2, "auto_functionalized: expected ", formals.size(), " arguments");
  torch::jit::Stack stack;
  for (size_t i = 0; i < formals.size(); ++i) {
    IValue value = std::move(operands[i + 2].value);
    if (value.isTuple()) {
      value = fx::make_list(value.toTupleRef().elements().vec(), formals[i].type());
    }
    stack.push_back(fx::convert(std::move(value), fx::conversion_to(*formals[i].type())));
  }
  return call_on_copies(op, std::move(stack), written);
}

void register_once() {
  static std::once_flag once;
  std::call_once(once, [] { fx::register_function({"auto_functionalized", run_on_copies, /*is_pure=*/false}); });
}

} // namespace

std::vector<size_t> fresh_results(const c10::FunctionSchema& schema) {
  std::vector<size_t> fresh;
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    if (!schema.returns()[i].alias_info()) {
      fresh.push_back(i);
    }
  }
  return fresh;
}

std::vector<IValue> call_on_copies(
    const c10::OperatorHandle& op, torch::jit::Stack stack, const std::vector<int64_t>& written) {
  std::vector<IValue> copies;
  for (const int64_t index : written) {
    IValue& argument = stack.at(static_cast<size_t>(index));
    argument = with_own_memory(argument);
    copies.push_back(argument);
  }
  op.callBoxed(&stack);
  std::vector<IValue> results;
  for (const size_t index : fresh_results(op.schema())) {
    results.push_back(stack.at(index));
  }
  results.insert(results.end(), copies.begin(), copies.end());
  return results;
}

fx::Node* call_on_copies(
    fx::Graph& graph, const fx::Node& node, std::vector<fx::Arg> args, const std::vector<size_t>& written) {
  register_once();
  std::vector<fx::Arg> operands{node.target(), std::vector<int64_t>(written.begin(), written.end())};
  operands.insert(operands.end(), args.begin(), args.end());
  const size_t results = fresh_results(node.schema()).size() + written.size();
  return graph.call_function("auto_functionalized", std::move(operands), static_cast<uint32_t>(results));
}

} // namespace torch::functionalize
