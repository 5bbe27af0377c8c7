// Running statistics of batch normalization for averaged parameters.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/util/OwnedPtr.h>
#include <csrc/nn/Module.h>

#include <type_traits>
#include <utility>

namespace torch::optim::swa_utils {

namespace detail {

/// While it lives, the module trains and its batch normalizations, emptied at first, average over all that comes.
class TORCH_API BatchNormUpdate {
 public:
  explicit BatchNormUpdate(nn::Module& module);
  BatchNormUpdate(const BatchNormUpdate&) = delete;
  BatchNormUpdate& operator=(const BatchNormUpdate&) = delete;
  ~BatchNormUpdate();

  /// Is there any batch normalization?
  bool any() const;

 private:
  struct Layers;
  c10::OwnedPtr<Layers> layers_;
};

template <typename T, typename = void>
struct HasData : std::false_type {};
template <typename T>
struct HasData<T, std::void_t<decltype(std::declval<T&>().data.defined())>> : std::true_type {};

} // namespace detail

/// Finds the running mean and variance of each batch normalization in `model` (a module, holder or pointer) anew, as
/// averages over one pass of `loader`, whose batches are tensors or have the inputs as `data`. For a model that has got
/// averaged parameters:
///     average.copy_to(net->parameters());
///     update_bn(*loader, net);
/// Without batch normalization nothing is done.
template <typename Loader, typename Model>
void update_bn(Loader& loader, Model& model) {
  auto& module = nn::detail::module_of(model);
  const detail::BatchNormUpdate update(module);
  if (!update.any()) {
    return;
  }
  const c10::NoGradGuard no_grad;
  for (auto&& batch : loader) {
    if constexpr (detail::HasData<std::decay_t<decltype(batch)>>::value) {
      nn::detail::call_forward(module, batch.data);
    } else {
      nn::detail::call_forward(module, batch);
    }
  }
}

} // namespace torch::optim::swa_utils
