#include <csrc/compat/aten/native/CPUFallback.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/Tensor.h>
#include <aten/core/function_schema.h>
#include <aten/native/support/OutArgument.h>
#include <aten/ops/copy_.h>
#include <aten/ops/to.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace at::native {
namespace {

using c10::IValue;
using torch::jit::Stack;

bool holds_tensors(const IValue& list) {
  return list.isTensorList() || list.isOptionalTensorList();
}

/// Calls `visit(tensor)` for each defined tensor inside a value and puts what it returns in the tensor's place.
template <class Visit>
void replace_tensors(IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      value = visit(value.toTensor());
    }
    return;
  }
  if (!holds_tensors(value)) {
    return;
  }
  // A list of its own: the caller's, which may be shared, keeps its tensors.
  c10::List<IValue> moved = value.toList().copy();
  for (size_t i = 0; i < moved.size(); ++i) {
    const IValue element = moved.get(i);
    if (element.isTensor() && element.toTensor().defined()) {
      moved.set(i, visit(element.toTensor()));
    }
  }
  value = IValue(std::move(moved));
}

Tensor to_cpu(const Tensor& t) {
  return t.is_cpu() ? t : t.to(at::TensorOptions(kCPU));
}

/// Copies what was computed on the CPU into the caller's tensor, which takes its size.
void write_back(const Tensor& computed, const Tensor& target) {
  if (computed.is_same(target)) {
    return;
  }
  if (target.sizes() != computed.sizes()) {
    resize_output(target, computed.sizes());
  }
  Tensor(target).copy_(computed);
}

void write_back(const IValue& computed, const IValue& target) {
  if (target.isTensor()) {
    if (target.toTensor().defined()) {
      write_back(computed.toTensor(), target.toTensor());
    }
  } else if (holds_tensors(target)) {
    const c10::List<IValue> from = computed.toList();
    const c10::List<IValue> to = target.toList();
    for (size_t i = 0; i < to.size(); ++i) {
      write_back(from.get(i), to.get(i));
    }
  }
}

/// In lists the annotation may be that of the elements.
bool is_written(const c10::Argument& argument) {
  const c10::AliasInfo* alias = argument.alias_info();
  return alias != nullptr &&
      (alias->isWrite() ||
       std::any_of(alias->containedTypes().begin(), alias->containedTypes().end(), [](const c10::AliasInfo& inner) {
         return inner.isWrite();
       }));
}

/// The argument that a result is, for results such as `Tensor(a!)`.
std::optional<size_t> written_argument_of(const c10::FunctionSchema& schema, const c10::Argument& result) {
  if (!is_written(result)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (is_written(argument) && argument.alias_info()->beforeSets() == result.alias_info()->beforeSets()) {
      return i;
    }
  }
  return std::nullopt;
}

/// Where results go: the device of the first tensor that is not on the CPU, or a device that was asked for.
std::optional<c10::Device> target_device(c10::ArrayRef<IValue> arguments) {
  std::optional<c10::Device> requested;
  std::optional<c10::Device> found;
  for (const IValue& argument : arguments) {
    if (argument.isDevice()) {
      requested = argument.toDevice();
      continue;
    }
    IValue value = argument;
    replace_tensors(value, [&](const Tensor& t) {
      if (!t.is_cpu() && !found) {
        found = t.device();
      }
      return t;
    });
  }
  // A device argument decides, as in to(device) and factories.
  return requested ? requested : found;
}

} // namespace

void cpu_fallback(const c10::OperatorHandle& op, Stack* stack, bool error_on_views, c10::DispatchKey cpu_dispatch_key) {
  // The kernels of a backend are below autograd, and so is this.
  const at::AutoDispatchBelowADInplaceOrView below;
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  TORCH_CHECK(
      stack != nullptr && stack->size() >= count, "cpu_fallback: ", schema.operator_name(), " takes ", count,
      " arguments, the stack holds ", stack == nullptr ? 0 : stack->size());
  const size_t begin = stack->size() - count;
  const std::vector<IValue> given(stack->begin() + static_cast<std::ptrdiff_t>(begin), stack->end());
  const std::optional<c10::Device> device = target_device(given);

  for (size_t i = 0; i < count; ++i) {
    IValue& argument = (*stack)[begin + i];
    if (argument.isDevice()) {
      argument = IValue(c10::Device(kCPU));
    } else {
      replace_tensors(argument, [](const Tensor& t) { return to_cpu(t); });
    }
  }
  const std::vector<IValue> moved(stack->begin() + static_cast<std::ptrdiff_t>(begin), stack->end());

  op.redispatchBoxed(c10::DispatchKeySet(cpu_dispatch_key), stack);

  for (size_t i = 0; i < count; ++i) {
    if (is_written(schema.arguments()[i])) {
      write_back(moved[i], given[i]);
    }
  }
  const size_t results = stack->size() - schema.returns().size();
  for (size_t i = 0; i < schema.returns().size(); ++i) {
    const c10::Argument& result = schema.returns()[i];
    IValue& value = (*stack)[results + i];
    if (const auto argument = written_argument_of(schema, result)) {
      value = given[*argument];
      continue;
    }
    if (result.alias_info() != nullptr) {
      TORCH_CHECK(
          !error_on_views, "The operator ", schema.operator_name(),
          " returns a view of its argument, which cannot be made on the CPU for a tensor on ", device.value_or(kCPU),
          ". Register a kernel for it.");
      TORCH_WARN_ONCE(
          "The operator ", schema.operator_name(), " runs on the CPU for ", device.value_or(kCPU),
          ": its result, a view elsewhere, is a copy here. Register a kernel for it.");
    }
    if (device) {
      replace_tensors(value, [&](const Tensor& t) { return t.to(at::TensorOptions(*device)); });
    }
  }
}

} // namespace at::native
