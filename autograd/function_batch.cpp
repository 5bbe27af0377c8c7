#include <autograd/function_batch.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/Tensor.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <utility>

namespace torch::autograd {

using at::functorch::BatchedTensorImpl;
using at::functorch::maybeGetBatchedImpl;
using at::functorch::VmapLevels;

variable_list FunctionBatch::below(const variable_list& tensors) const {
  variable_list values;
  values.reserve(tensors.size());
  for (const Variable& tensor : tensors) {
    values.push_back(tensor.defined() ? at::functorch::below_levels(tensor, levels_) : tensor);
  }
  return values;
}

variable_list FunctionBatch::above(const variable_list& values) const {
  variable_list tensors;
  tensors.reserve(values.size());
  for (const Variable& value : values) {
    tensors.push_back(value.defined() ? at::functorch::above_levels(value, levels_) : value);
  }
  return tensors;
}

variable_list FunctionBatch::input_values(const variable_list& inputs) {
  for (const Variable& input : inputs) {
    input_sizes_.push_back(input.defined() ? input.sizes().vec() : std::vector<int64_t>());
  }
  return below(inputs);
}

Variable FunctionBatch::output_value(const Variable& output) const {
  const AutoGradMode no_grad(false);
  VmapLevels own;
  at::functorch::add_levels_of(output, own);
  // A value that is merely permuted is no view: it may be changed in place.
  const at::AutoDispatchBelowADInplaceOrView untracked;
  Variable value = at::functorch::below_levels(output, levels_);
  return own.size() == levels_.size() ? value : value.clone();
}

Variable FunctionBatch::gradient_value(const Variable& gradient, size_t i) const {
  if (!gradient.defined()) {
    return gradient;
  }
  const at::IntArrayRef sizes = input_sizes_[i];
  return at::functorch::below_levels(gradient.sizes() == sizes ? gradient : gradient.sum_to_size(sizes), levels_);
}

void FunctionBatch::check_written(const Variable& input, const char* function) const {
  VmapLevels own;
  at::functorch::add_levels_of(input, own);
  TORCH_CHECK(
      own.size() == levels_.size(), "vmap: the custom function ", function,
      " changes an input in place (mark_dirty) that is the same for all samples, while others are not. vmap over that "
      "input too, or write a function that gives a new tensor");
}

Variable FunctionBatch::saved_value(const Variable& tensor, bool is_output) {
  if (is_output) {
    saved_.emplace_back(levels_.size(), 0);
    return tensor;
  }
  Dims& dims = saved_.emplace_back(levels_.size());
  Variable value = tensor;
  for (size_t i = levels_.size(); i-- > 0;) {
    const BatchedTensorImpl* const batched = maybeGetBatchedImpl(value);
    if (batched != nullptr && batched->level() == levels_[i]->number) {
      dims[i] = batched->bdim();
      value = Variable(batched->value());
    }
  }
  return value;
}

Variable FunctionBatch::restored(const Variable& value, size_t i) const {
  Variable tensor = value;
  for (size_t level = 0; level < levels_.size() && value.defined(); ++level) {
    if (const std::optional<int64_t> dim = saved_[i][level]) {
      tensor = at::functorch::makeBatched(tensor, *dim, levels_[level]);
    }
  }
  return tensor;
}

FunctionBatch::Scope::Scope(FunctionBatch& batch) : batch_(batch), before_(batch.levels_) {
  for (at::functorch::VmapLevelPtr& level : batch_.levels_) {
    entered_.push_back(std::make_unique<at::functorch::VmapGuard>(level->batch_size, level->randomness));
    level = entered_.back()->level();
  }
}

FunctionBatch::Scope::~Scope() {
  while (!entered_.empty()) {
    entered_.pop_back(); // the innermost first
  }
  batch_.levels_ = std::move(before_);
}

} // namespace torch::autograd
