#include <autograd/function_batch.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/Tensor.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/FunctionRef.h>

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
  return value_of(tensor, saved_.emplace_back(levels_.size()));
}

Variable FunctionBatch::value_of(const Variable& tensor, Dims& dims) const {
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
  return with_batches(value, saved_[i]);
}

Variable FunctionBatch::with_batches(const Variable& value, const Dims& dims) const {
  Variable tensor = value;
  for (size_t level = 0; level < levels_.size() && value.defined(); ++level) {
    if (const std::optional<int64_t> dim = dims[level]) {
      tensor = at::functorch::makeBatched(tensor, *dim, levels_[level]);
    }
  }
  return tensor;
}

namespace {

using ChangeTensor = c10::function_ref<Variable(const Variable&)>;

/// A value whose tensors have been changed.
c10::IValue with_tensors_changed(const c10::IValue& value, ChangeTensor change) {
  if (value.isTensor()) {
    return change(value.toTensor());
  }
  if (value.isList()) {
    c10::impl::GenericList list = value.toList().copy();
    for (size_t i = 0; i < list.size(); ++i) {
      list.set(i, with_tensors_changed(list.get(i), change));
    }
    return list;
  }
  if (value.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      elements.push_back(with_tensors_changed(element, change));
    }
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isGenericDict()) {
    c10::impl::GenericDict dict = value.toGenericDict().copy();
    for (const auto& entry : dict) {
      entry.setValue(with_tensors_changed(entry.value(), change));
    }
    return dict;
  }
  return value;
}

} // namespace

void FunctionBatch::take_values_of(SavedData& data) {
  data_.clear();
  for (auto& entry : data) {
    entry.second = with_tensors_changed(
        entry.second, [this](const Variable& tensor) { return value_of(tensor, data_.emplace_back(levels_.size())); });
  }
}

FunctionBatch::DataScope::DataScope(FunctionBatch& batch, SavedData& data) : batch_(batch), data_(data) {
  auto dims = batch_.data_.begin();
  for (auto& entry : data_) {
    entry.second =
        with_tensors_changed(entry.second, [&](const Variable& value) { return batch_.with_batches(value, *dims++); });
  }
}

FunctionBatch::DataScope::~DataScope() {
  batch_.take_values_of(data_);
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
