// Calls operators by name with boxed arguments.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string>
#include <vector>

namespace test {

using Stack = std::vector<c10::IValue>;

class BoxedOp {
 public:
  /// "add.Tensor" in namespace aten; nothing if the dispatcher does not know it.
  static std::optional<BoxedOp> find(const std::string& name);

  const c10::FunctionSchema& schema() const {
    return handle_.schema();
  }
  size_t argument_count() const {
    return schema().arguments().size();
  }
  /// Position of an argument, or nothing.
  std::optional<size_t> position(std::string_view argument) const;
  /// Positions of the arguments that the schema says are written to.
  std::vector<size_t> written_arguments() const;

  /// Fills up with the defaults of the schema; throws std::runtime_error for an argument without one.
  Stack complete(Stack args) const;

  /// Calls with complete arguments; returns what came back, one value per return of the schema.
  Stack call(Stack args) const;
  /// The tensors among the results, those in lists included.
  std::vector<at::Tensor> tensors(Stack args) const;

 private:
  explicit BoxedOp(c10::OperatorHandle handle) : handle_(std::move(handle)) {}

  c10::OperatorHandle handle_;
};

/// The tensors in a stack, those in lists included, undefined ones too.
std::vector<at::Tensor> tensors_of(const Stack& values);

/// A copy of `args` in which each tensor t, also in lists, is replaced by change(t). Undefined ones stay.
template <class Change>
Stack with_tensors(const Stack& args, const Change& change);

template <class Change>
Stack with_tensors(const Stack& args, const Change& change) {
  Stack changed;
  for (const c10::IValue& value : args) {
    if (value.isTensor()) {
      changed.emplace_back(value.toTensor().defined() ? change(value.toTensor()) : value.toTensor());
    } else if (value.isTensorList()) {
      std::vector<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        list.push_back(tensor.defined() ? change(tensor) : tensor);
      }
      changed.emplace_back(std::move(list));
    } else if (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList()) {
      // A list of optional tensors, as index takes; lists of Scalars pass through unchanged.
      c10::List<c10::IValue> list = value.toList().copy();
      for (size_t i = 0; i < list.size(); ++i) {
        const c10::IValue item = list.get(i);
        if (item.isTensor() && item.toTensor().defined()) {
          list.set(i, change(item.toTensor()));
        }
      }
      changed.emplace_back(std::move(list));
    } else {
      changed.push_back(value);
    }
  }
  return changed;
}

} // namespace test
