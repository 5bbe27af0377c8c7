#include <csrc/func/levels.h>

#include <aten/Functions.h>
#include <autograd/forward/forward_grad.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>

namespace torch::func::detail {

Levels active_levels() {
  Levels levels;
  for (int64_t number = 1; number <= at::functorch::vmap_depth(); ++number) {
    levels.push_back(at::functorch::find_vmap_level(number));
  }
  return levels;
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
