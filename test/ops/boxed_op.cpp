#include "test/ops/boxed_op.h"

#include <stdexcept>

namespace test {

std::optional<BoxedOp> BoxedOp::find(const std::string& name) {
  const size_t dot = name.find('.');
  const auto found = c10::Dispatcher::singleton().findSchema(
      c10::OperatorName{"aten::" + name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
  if (!found.has_value()) {
    return std::nullopt;
  }
  return BoxedOp(*found);
}

std::optional<size_t> BoxedOp::position(std::string_view argument) const {
  const auto& arguments = schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() == argument) {
      return i;
    }
  }
  return std::nullopt;
}

std::vector<size_t> BoxedOp::written_arguments() const {
  std::vector<size_t> written;
  const auto& arguments = schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite()) {
      written.push_back(i);
    }
  }
  return written;
}

Stack BoxedOp::complete(Stack args) const {
  const auto& arguments = schema().arguments();
  for (size_t i = args.size(); i < arguments.size(); ++i) {
    const auto& fallback = arguments[i].default_value();
    if (!fallback.has_value()) {
      throw std::runtime_error(schema().name() + ": the sample has no value for argument " + arguments[i].name());
    }
    args.push_back(*fallback);
  }
  return args;
}

Stack BoxedOp::call(Stack args) const {
  handle_.callBoxed(&args);
  return args;
}

std::vector<at::Tensor> BoxedOp::tensors(Stack args) const {
  return tensors_of(call(std::move(args)));
}

std::vector<at::Tensor> tensors_of(const Stack& values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      tensors.push_back(value.toTensor());
    }
    if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

} // namespace test
