// Modules that can be copied.
#pragma once

#include <c10/core/GradMode.h>
#include <csrc/nn/Module.h>

namespace torch::nn {

/// The base of a module class Derived that has a clone(). Its parameters, buffers and submodules are registered in
/// reset(), which is called for the copy too, and not in the constructor.
template <typename Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Registers everything anew and initialises it.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    c10::NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Cloneable& base = *copy;
    base.drop_state();
    base.reset();
    base.copy_state_from(*this, device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<Device>& device) final {
    const std::shared_ptr<Module> clone = other.clone(device);
    const auto* copy = dynamic_cast<const Derived*>(clone.get());
    TORCH_CHECK(
        copy != nullptr,
        "Attempted to clone submodule, but it is of a different type than the submodule it was to be cloned into");
    static_cast<Derived&>(*this) = *copy;
  }
};

} // namespace torch::nn
