#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <memory>

namespace at {
class Tensor;
class TensorBase;
} // namespace at

namespace c10 {

struct TensorImpl;

/// What a tensor keeps for autograd, as far as this layer needs to know: the autograd layer has the real class.
struct C10_API AutogradMetaInterface {
  virtual void set_requires_grad(bool requires_grad, c10::TensorImpl* self_impl) = 0;
  virtual bool requires_grad() const = 0;
  virtual at::Tensor& mutable_grad() = 0;
  virtual const at::Tensor& grad() const = 0;
  virtual const at::Tensor& fw_grad(uint64_t level, const at::TensorBase& self) const = 0;
  virtual void set_fw_grad(
      const at::TensorBase& new_grad, const at::TensorBase& self, uint64_t level, bool is_inplace_op) = 0;
  virtual ~AutogradMetaInterface();
};

namespace impl {

/// Makes the autograd layer's objects; that layer sets it when it is loaded.
struct C10_API AutogradMetaFactory {
  virtual ~AutogradMetaFactory();
  virtual std::unique_ptr<AutogradMetaInterface> make() const = 0;
  /// An undefined tensor, to be returned by reference.
  virtual const at::Tensor& undefined_tensor() const = 0;
};

C10_API void SetAutogradMetaFactory(AutogradMetaFactory* factory);
/// Throws if no factory is set.
C10_API AutogradMetaFactory* GetAutogradMetaFactory();

struct C10_API AutogradMetaFactoryRegisterer {
  explicit AutogradMetaFactoryRegisterer(AutogradMetaFactory* factory) {
    SetAutogradMetaFactory(factory);
  }
};

} // namespace impl

} // namespace c10
