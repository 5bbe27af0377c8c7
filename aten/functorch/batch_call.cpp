#include <aten/functorch/batch_call.h>

#include <aten/core/Tensor.h>
#include <aten/core/function_schema.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at::functorch {

Tensor to_front(const Tensor& value, int64_t from) {
  if (from == 0) {
    return value;
  }
  c10::DimVector order{from};
  for (int64_t d = 0; d < value.dim(); ++d) {
    if (d != from) {
      order.push_back(d);
    }
  }
  return value.permute(order);
}

Tensor BatchedValue::batch_first() const {
  return is_batched() ? to_front(value, *bdim) : value;
}

Tensor BatchedValue::with_batch(int64_t batch_size) const {
  if (is_batched()) {
    return to_front(value, *bdim);
  }
  c10::DimVector sizes{batch_size};
  sizes.append(value.sizes().begin(), value.sizes().end());
  return value.expand(sizes);
}

BatchedValue value_at(const Tensor& tensor, const VmapLevel& level) {
  auto [value, bdim] = unwrapTensorAtLevel(tensor, level.number);
  return {std::move(value), bdim};
}

BatchCall::BatchCall(const c10::OperatorHandle& op, torch::jit::Stack* stack, VmapLevelPtr level)
    : op_(op),
      schema_(op.schema()),
      stack_(stack),
      count_(schema_.arguments().size()),
      first_(stack->size() - count_),
      level_(std::move(level)) {}

std::optional<size_t> BatchCall::position(const char* name) const {
  const std::optional<int> found = schema().argumentIndexWithName(name);
  return found ? std::optional<size_t>(static_cast<size_t>(*found)) : std::nullopt;
}

bool BatchCall::is_written(size_t i) const {
  const c10::AliasInfo* const alias = schema().arguments()[i].alias_info();
  return alias != nullptr && alias->isWrite();
}

bool BatchCall::writes() const {
  for (size_t i = 0; i < count(); ++i) {
    if (is_written(i)) {
      return true;
    }
  }
  return false;
}

BatchedValue BatchCall::tensor(size_t i) const {
  return value_at(argument(i).toTensor(), level());
}

void BatchCall::for_each_tensor(c10::function_ref<void(size_t, const Tensor&)> visit) const {
  for (size_t i = 0; i < count(); ++i) {
    if (const c10::IValue& value = argument(i); value.isTensor() && value.toTensor().defined()) {
      visit(i, value.toTensor());
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      changed(value, [&](const Tensor& tensor) {
        visit(i, tensor);
        return tensor;
      });
    }
  }
}

c10::IValue BatchCall::changed(const c10::IValue& value, c10::function_ref<Tensor(const Tensor&)> change) {
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    return tensor.defined() ? change(tensor) : tensor;
  }
  if (value.isTensorList()) {
    std::vector<Tensor> list = value.toTensorVector();
    for (Tensor& tensor : list) {
      tensor = tensor.defined() ? change(tensor) : tensor;
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<Tensor>> list;
    for (const std::optional<Tensor> tensor : value.toOptionalTensorList()) {
      list.push_back(tensor && tensor->defined() ? std::optional<Tensor>(change(*tensor)) : tensor);
    }
    return list;
  }
  return value;
}

torch::jit::Stack BatchCall::with_tensors(c10::function_ref<Tensor(size_t, const Tensor&)> change) const {
  torch::jit::Stack all;
  all.reserve(count());
  for (size_t i = 0; i < count(); ++i) {
    all.push_back(changed(argument(i), [&](const Tensor& tensor) { return change(i, tensor); }));
  }
  return all;
}

void BatchCall::redo_with_tensors(c10::function_ref<Tensor(size_t, const Tensor&)> change) const {
  for (size_t i = 0; i < count(); ++i) {
    c10::IValue& value = argument(i);
    value = changed(value, [&](const Tensor& tensor) { return change(i, tensor); });
  }
  op_.callBoxed(stack_);
  for (size_t r = first_; r < stack_->size(); ++r) {
    (*stack_)[r] = wrapped((*stack_)[r]);
  }
}

void BatchCall::check_written() const {
  for (size_t i = 0; i < count(); ++i) {
    if (!is_written(i)) {
      continue;
    }
    const auto check = [&](const Tensor& tensor) {
      const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor);
      TORCH_CHECK(
          !tensor.defined() || (batched != nullptr && batched->level() == level().number),
          "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
          "extra_args that has more elements than `self`: ",
          name(),
          " would write the samples of a vmap over `other` "
          "into one tensor that is not vmapped over. Use the out-of-place form, or vmap over `self` too");
    };
    if (argument(i).isTensor()) {
      check(argument(i).toTensor());
    } else if (argument(i).isTensorList()) {
      for (const Tensor& tensor : argument(i).toTensorVector()) {
        check(tensor);
      }
    }
  }
}

torch::jit::Stack BatchCall::call(torch::jit::Stack arguments) const {
  op_.callBoxed(&arguments);
  return arguments;
}

torch::jit::Stack BatchCall::call(const char* name, const char* overload, torch::jit::Stack arguments) const {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&arguments);
  return arguments;
}

Tensor BatchCall::wrap(const Tensor& value) const {
  return value.defined() ? makeBatched(value, 0, level_) : value;
}

c10::IValue BatchCall::wrapped(const c10::IValue& result) const {
  return changed(result, [this](const Tensor& tensor) { return wrap(tensor); });
}

void BatchCall::finish(torch::jit::Stack results) const {
  const std::vector<c10::Argument>& returns = schema().returns();
  for (size_t r = 0; r < returns.size(); ++r) {
    const c10::AliasInfo* const alias = returns[r].alias_info();
    if (alias != nullptr && alias->isWrite()) {
      for (size_t i = 0; i < count(); ++i) {
        const c10::AliasInfo* const written = schema().arguments()[i].alias_info();
        if (written != nullptr && written->isWrite() && written->beforeSets() == alias->beforeSets()) {
          results[r] = argument(i);
        }
      }
    } else {
      results[r] = wrapped(results[r]);
    }
  }
  for (size_t i = 0; i < count(); ++i) {
    if (is_written(i) && argument(i).isTensor()) {
      if (BatchedTensorImpl* const batched = maybeGetBatchedImpl(argument(i).toTensor())) {
        batched->refresh_metadata();
      }
    }
  }
  finish_unbatched(std::move(results));
}

void BatchCall::finish_unbatched(torch::jit::Stack results) const {
  torch::jit::drop(*stack_, count());
  for (c10::IValue& result : results) {
    stack_->push_back(std::move(result));
  }
}

} // namespace at::functorch
