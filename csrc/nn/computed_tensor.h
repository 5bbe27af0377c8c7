// Tensors of a module that are computed from others before each forward: weight_norm, spectral_norm, parametrizations.
//
// Note [Computed tensors]
// A module's forward reads its weight from a member, `Tensor weight`; the member and what was registered as a parameter
// are handles of one tensor. So the tensor stays when something takes its place among the parameters: it is registered
// no more, and before each call through a holder or a container it gets another value and another history, which all
// handles see: members of any module, a program's own too, and the lists of an RNN. A graph of an earlier call that has
// saved the weight keeps what it was (autograd::impl::renew), so one module may be called many times before backward.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::nn {

class Module;

namespace detail {

class ComputedTensor {
 public:
  virtual ~ComputedTensor() = default;

  const std::string& name() const noexcept {
    return name_;
  }
  /// The tensor that members of the module refer to.
  const at::Tensor& target() const noexcept {
    return target_;
  }
  bool is_buffer() const noexcept {
    return is_buffer_;
  }

  /// Gives the target the value for the next forward. Without gradients, and when nothing that it is computed from has
  /// changed, nothing is written: such calls may run in several threads at once.
  virtual void renew(Module& module);

  void set_value(const at::Tensor& value);

  /// Does the same for `copy`, a copy of `module` with tensors registered anew by reset().
  virtual std::shared_ptr<ComputedTensor> copy_to(
      Module& copy, const Module& module, const std::optional<c10::Device>& device) const = 0;

 protected:
  /// Takes the tensor `name` out of the module's parameters or buffers.
  ComputedTensor(Module& module, std::string name);

  virtual at::Tensor compute(Module& module) = 0;
  /// What the value is computed from; empty if anything else takes part in it.
  virtual std::vector<at::Tensor> sources(Module& module) const = 0;

  /// A copy for a copied module.
  static at::Tensor copy_of(const at::Tensor& source, const std::optional<c10::Device>& device);
  /// The target takes the value of `other`'s, on the device.
  void take_value_of(const ComputedTensor& other, const std::optional<c10::Device>& device);

 private:
  struct State {
    const void* data;
    uint32_t version;
    bool operator==(const State& other) const {
      return data == other.data && version == other.version;
    }
  };

  std::string name_;
  at::Tensor target_;
  bool is_buffer_ = false;
  std::vector<State> seen_; // of the sources, when the target was computed last
};

/// The parameter or buffer of this name; undefined if there is none.
at::Tensor find_tensor(Module& module, const std::string& name);
/// The module's parameter of this name. Throws when there is none, or when the names with these suffixes are taken.
at::Tensor checked_parameter(
    const char* what, Module& module, const std::string& name, std::initializer_list<const char*> suffixes);
/// The computed tensor of this name, or null.
std::shared_ptr<ComputedTensor> find_computed(Module& module, const std::string& name);

/// Adds it to the module.
void install(Module& module, std::shared_ptr<ComputedTensor> computed);
/// Takes it away: the module has a parameter (or buffer) of this name again, with the data of `value`.
void uninstall(
    Module& module, const std::shared_ptr<ComputedTensor>& computed, const at::Tensor& value, bool requires_grad);

/// The part of clone() for computed tensors, between reset() and the copying of values.
void copy_computed_tensors(Module& copy, const Module& source, const std::optional<c10::Device>& device);

} // namespace detail
} // namespace torch::nn
