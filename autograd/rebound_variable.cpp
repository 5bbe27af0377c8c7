#include <autograd/rebound_variable.h>

#include <c10/util/Exception.h>

#include <utility>

namespace torch::autograd::impl {

namespace {

void take_data(const at::TensorBase& self, const at::TensorBase& value) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(
      impl->has_compatible_shallow_copy_type(value.key_set()), "a computed tensor must stay of one kind: it was ",
      self.toString(), ", its new value is ", value.toString());
  TORCH_CHECK(
      !value.is_inference() || impl->is_inference(),
      "a computed tensor cannot become an inference tensor: compute it outside of InferenceMode, or clone it there");
  impl->shallow_copy_from(value.getIntrusivePtr());
  if (!impl->is_inference()) {
    impl->set_version_counter(value.unsafeGetTensorImpl()->version_counter());
  }
}

} // namespace

void renew(const at::TensorBase& self, const at::TensorBase& value) {
  Edge edge = value.requires_grad() ? gradient_edge(value) : Edge();
  take_data(self, value);
  self.unsafeGetTensorImpl()->set_autograd_meta(
      std::make_unique<ReboundMeta>(self.unsafeGetTensorImpl(), /*requires_grad=*/false, std::move(edge)));
}

void renew_as_leaf(const at::TensorBase& self, const at::TensorBase& value, bool requires_grad) {
  take_data(self, value);
  self.unsafeGetTensorImpl()->set_autograd_meta(nullptr);
  self.set_requires_grad(requires_grad);
}

} // namespace torch::autograd::impl
