#include <aten/functorch/level_values.h>

#include <aten/functorch/BatchedTensorImpl.h>
#include <aten/functorch/batch_call.h>
#include <aten/ops/equal.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>

namespace at::functorch {

namespace {

Tensor below_first(const Tensor& tensor, const VmapLevels& levels, size_t count) {
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor);
  if (batched != nullptr) {
    check_not_escaped(*batched, "torch::func");
  }
  if (batched != nullptr && (count == 0 || batched->level() > levels[count - 1]->number)) {
    const Tensor value = to_front(batched->value(), batched->bdim());
    return makeBatched(below_first(value, levels, count), static_cast<int64_t>(count), batched->vmap_level());
  }
  if (count == 0) {
    return tensor;
  }
  const VmapLevel& level = *levels[count - 1];
  return below_first(value_at(tensor, level).with_batch(level.batch_size), levels, count - 1);
}

} // namespace

Tensor below_levels(const Tensor& tensor, const VmapLevels& levels) {
  return below_first(tensor, levels, levels.size());
}

Tensor above_levels(const Tensor& value, const VmapLevels& levels) {
  if (levels.empty()) {
    return value;
  }
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(value);
  if (batched != nullptr && batched->level() > levels.back()->number) {
    // Behind the batches of the levels.
    const Tensor moved = batched->value().movedim(batched->bdim(), static_cast<int64_t>(levels.size()));
    return makeBatched(above_levels(moved, levels), 0, batched->vmap_level());
  }
  Tensor tensor = value;
  for (const VmapLevelPtr& level : levels) {
    tensor = makeBatched(tensor, 0, level);
  }
  return tensor;
}

Tensor same_in_all_samples(const Tensor& tensor, const char* op, const char* name) {
  Tensor sample = tensor;
  while (const BatchedTensorImpl* const batched = maybeGetBatchedImpl(sample)) {
    check_not_escaped(*batched, op);
    const Tensor value = batched->value();
    TORCH_CHECK(value.size(batched->bdim()) != 0, "vmap: ", op, " reads ", name, ", and there are no samples of it");
    const Tensor first = value.select(batched->bdim(), 0);
    TORCH_CHECK(
        at::equal(
            value_below_all_levels(value), value_below_all_levels(first.unsqueeze(batched->bdim()).expand_as(value))),
        "vmap: ", op, " reads ", name, ", which says sizes, so it must be the same for all samples");
    sample = first;
  }
  return sample;
}

void add_levels_of(const Tensor& tensor, VmapLevels& levels) {
  const Tensor* value = &tensor;
  while (const BatchedTensorImpl* const batched = maybeGetBatchedImpl(*value)) {
    const auto place = std::lower_bound(
        levels.begin(), levels.end(), batched->level(),
        [](const VmapLevelPtr& level, int64_t number) { return level->number < number; });
    if (place == levels.end() || *place != batched->vmap_level()) {
      levels.insert(place, batched->vmap_level());
    }
    value = &batched->value();
  }
}

} // namespace at::functorch
