#include <csrc/func/levels.h>

#include <aten/Functions.h>
#include <aten/functorch/batch_call.h>
#include <autograd/forward/forward_grad.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>

namespace torch::func::detail {

namespace {

using at::functorch::BatchedTensorImpl;
using at::functorch::makeBatched;
using at::functorch::maybeGetBatchedImpl;

at::Tensor below_first(const at::Tensor& tensor, const Levels& levels, size_t count) {
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor);
  if (batched != nullptr && batched->level() > static_cast<int64_t>(count)) {
    at::functorch::check_not_escaped(*batched, "torch::func");
    const at::Tensor value = at::functorch::to_front(batched->value(), batched->bdim());
    return makeBatched(below_first(value, levels, count), static_cast<int64_t>(count), batched->vmap_level());
  }
  if (count == 0) {
    return tensor;
  }
  const at::functorch::VmapLevel& level = *levels[count - 1];
  return below_first(at::functorch::value_at(tensor, level).with_batch(level.batch_size), levels, count - 1);
}

} // namespace

Levels active_levels() {
  Levels levels;
  for (int64_t number = 1; number <= at::functorch::vmap_depth(); ++number) {
    levels.push_back(at::functorch::find_vmap_level(number));
  }
  return levels;
}

at::Tensor below_levels(const at::Tensor& tensor, const Levels& levels) {
  return below_first(tensor, levels, levels.size());
}

at::Tensor above_levels(const at::Tensor& value, const Levels& levels) {
  const auto count = static_cast<int64_t>(levels.size());
  const BatchedTensorImpl* const batched = maybeGetBatchedImpl(value);
  if (batched != nullptr && batched->level() > count) {
    const at::Tensor moved = batched->value().movedim(batched->bdim(), count); // behind the batches of the levels
    return makeBatched(above_levels(moved, levels), 0, batched->vmap_level());
  }
  at::Tensor tensor = value;
  for (const at::functorch::VmapLevelPtr& level : levels) {
    tensor = makeBatched(tensor, 0, level);
  }
  return tensor;
}

std::vector<at::Tensor> all_below(const std::vector<at::Tensor>& tensors, const Levels& levels) {
  std::vector<at::Tensor> values;
  for (const at::Tensor& tensor : tensors) {
    values.push_back(tensor.defined() ? below_levels(tensor, levels) : tensor);
  }
  return values;
}

at::Tensor without_history(const at::Tensor& tensor) {
  at::Tensor alias = tensor.detach();
  if (!tensor.key_set().has(c10::DispatchKey::ForwardAD)) {
    return alias;
  }
  const std::shared_ptr<autograd::ForwardGrad> tangents = autograd::impl::forward_grad(tensor);
  std::vector<uint64_t> levels = tangents ? tangents->all_levels() : std::vector<uint64_t>();
  std::sort(levels.begin(), levels.end());
  for (const uint64_t level : levels) {
    alias._set_fw_grad(without_history(tangents->value(level)), level, /*is_inplace_op=*/false);
  }
  return alias;
}

} // namespace torch::func::detail
