// One call of an operator with batched tensors, as the rules see it.
#pragma once

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <aten/core/stack.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace at::functorch {

/// A tensor as it is below a level: its value, and which dimension of that counts samples, if any does.
struct BatchedValue {
  Tensor value;
  std::optional<int64_t> bdim;

  bool is_batched() const {
    return bdim.has_value();
  }
  /// Dimensions that a sample has.
  int64_t rank() const {
    return value.dim() - (is_batched() ? 1 : 0);
  }
  /// The value with the batch in front; of a tensor without batch the tensor.
  Tensor batch_first() const;
  /// The value with the batch in front, which all tensors then have: samples of one without batch share its memory.
  Tensor with_batch(int64_t batch_size) const;
};

BatchedValue value_at(const Tensor& tensor, const VmapLevel& level);

/// A view in which dimension `from` stands in front.
Tensor to_front(const Tensor& value, int64_t from);

/// The arguments on the stack of a call, and the highest level of a tensor among them. Rules take the arguments from
/// here, and leave the results in their place.
class BatchCall {
 public:
  BatchCall(const c10::OperatorHandle& op, torch::jit::Stack* stack, VmapLevelPtr level);

  const c10::OperatorHandle& op() const {
    return op_;
  }
  const c10::FunctionSchema& schema() const {
    return schema_;
  }
  const char* name() const {
    return op_.operator_name().name.c_str();
  }
  const VmapLevel& level() const {
    return *level_;
  }
  int64_t batch_size() const {
    return level_->batch_size;
  }

  size_t count() const {
    return count_;
  }
  c10::IValue& argument(size_t i) const {
    return (*stack_)[first_ + i];
  }
  /// Position of an argument, or nothing.
  std::optional<size_t> position(const char* name) const;
  /// Whether the operator writes to this argument.
  bool is_written(size_t i) const;
  bool writes() const;
  /// The i-th argument, which is a tensor.
  BatchedValue tensor(size_t i) const;

  /// Calls `visit` for each tensor among the arguments that is defined, those in lists too.
  void for_each_tensor(c10::function_ref<void(size_t, const Tensor&)> visit) const;
  /// A copy of the arguments in which each defined tensor t of argument i is change(i, t).
  torch::jit::Stack with_tensors(c10::function_ref<Tensor(size_t, const Tensor&)> change) const;
  /// Calls the operator with these in the place of the arguments, and leaves the results there, whose batch is in
  /// front. For operators that write to none.
  void redo_with_tensors(c10::function_ref<Tensor(size_t, const Tensor&)> change) const;

  /// Throws if a tensor that is written to has no batch while another has one.
  void check_written() const;

  /// Calls the operator itself, or another one.
  torch::jit::Stack call(torch::jit::Stack arguments) const;
  torch::jit::Stack call(const char* name, const char* overload, torch::jit::Stack arguments) const;

  /// Puts results in the place of the arguments: tensors have their batch in front, and stand for samples from now on;
  /// arguments that were written to are results themselves.
  void finish(torch::jit::Stack results) const;
  /// The same for results that have no batch.
  void finish_unbatched(torch::jit::Stack results) const;
  /// A tensor whose batch is in front as one that stands for samples.
  Tensor wrap(const Tensor& value) const;

 private:
  /// An argument, or a result, in which each defined tensor is what `change` makes of it.
  static c10::IValue changed(const c10::IValue& value, c10::function_ref<Tensor(const Tensor&)> change);
  c10::IValue wrapped(const c10::IValue& result) const;

  const c10::OperatorHandle& op_;
  const c10::FunctionSchema& schema_;
  torch::jit::Stack* stack_;
  size_t count_;
  size_t first_;
  VmapLevelPtr level_;
};

} // namespace at::functorch
