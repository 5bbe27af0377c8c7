// The autograd methods of Tensor.
#include <aten/core/VariableHooksInterface.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <autograd/autograd.h>
#include <autograd/autograd_meta_extras.h>
#include <autograd/autograd_not_implemented_fallback.h>
#include <autograd/engine.h>
#include <autograd/functions/tensor.h>
#include <autograd/variable.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>

#include <array>
#include <mutex>

namespace torch::autograd {

namespace {

struct VariableHooks final : at::impl::VariableHooksInterface {
  at::TensorBase tensor_data(const at::TensorBase& self) const override;
  at::TensorBase variable_data(const at::TensorBase& self) const override;
  const std::shared_ptr<Node>& grad_fn(const at::TensorBase& self) const override;
  unsigned _register_hook(
      const at::TensorBase& self, std::function<at::TensorBase(const at::TensorBase&)> hook) const override;
  void remove_hook(const at::TensorBase& self, unsigned pos) const override;
  bool is_view(const at::TensorBase& self) const override;
  const at::TensorBase& base(const at::TensorBase& self) const override;
  const std::string& name(const at::TensorBase& self) const override;
  bool is_leaf(const at::TensorBase& self) const override;
  int64_t output_nr(const at::TensorBase& self) const override;
  void set_data(const at::TensorBase& self, const at::TensorBase& new_data) const override;
  at::TensorBase data(const at::TensorBase& self) const override;
  int64_t _version(const at::TensorBase& self) const override;
  void retain_grad(const at::TensorBase& self) const override;
  bool retains_grad(const at::TensorBase& self) const override;
  void _backward(
      const at::Tensor& self,
      at::TensorList inputs,
      const std::optional<at::Tensor>& gradient,
      std::optional<bool> keep_graph,
      bool create_graph) const override;
  void requires_grad_(const at::TensorBase& self, bool requires_grad) const override;
  void detach_(const at::TensorBase& self) const override;
  void basic_autograd_not_implemented_fallback(
      const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) const override;
};

VariableHooks variable_hooks;
const at::impl::VariableHooksRegisterer variable_hooks_registerer(&variable_hooks);

// History belongs to the value that stands behind a batched tensor.
const at::TensorBase& with_history(const at::TensorBase& self) {
  const at::TensorBase* value = &self;
  while (const auto* const batched = at::functorch::maybeGetBatchedImpl(*value)) {
    value = &batched->value();
  }
  return *value;
}

at::TensorBase VariableHooks::tensor_data(const at::TensorBase& self) const {
  TORCH_CHECK(self.defined(), "cannot call tensor_data() on undefined tensor");
  const c10::TensorImpl& impl = *self.unsafeGetTensorImpl();
  return at::TensorBase(impl.shallow_copy_and_detach(impl.version_counter(), impl.allow_tensor_metadata_change()));
}

at::TensorBase VariableHooks::variable_data(const at::TensorBase& self) const {
  TORCH_CHECK(self.defined(), "cannot call variable_data() on undefined tensor");
  auto copy = self.unsafeGetTensorImpl()->shallow_copy_and_detach(
      c10::VariableVersion(0), /*allow_tensor_metadata_change=*/false);
  copy->set_autograd_meta(nullptr);
  return at::TensorBase(std::move(copy));
}

at::TensorBase VariableHooks::data(const at::TensorBase& self) const {
  return self.variable_data();
}

bool VariableHooks::is_leaf(const at::TensorBase& tensor) const {
  const at::TensorBase& self = with_history(tensor);
  const AutogradMeta* meta = impl::get_autograd_meta(self);
  if (meta == nullptr || meta->grad_fn_ != nullptr) {
    return meta == nullptr;
  }
  // A view without a node gets one when it is next asked for it, if its base was changed into one that has history. One
  // that was made without recording gets none.
  const DifferentiableViewMeta* view = impl::get_view_autograd_meta(self);
  return view == nullptr || view->get_creation_meta() != CreationMeta::DEFAULT ||
      view->get_attr_version() == self.unsafeGetTensorImpl()->version_counter().current_version() ||
      !view->get_backward_view().base_.requires_grad();
}

int64_t VariableHooks::output_nr(const at::TensorBase& tensor) const {
  const at::TensorBase& self = with_history(tensor);
  const AutogradMeta* meta = impl::get_autograd_meta(self);
  return meta ? meta->output_nr_ : 0;
}

int64_t VariableHooks::_version(const at::TensorBase& self) const {
  return with_history(self).unsafeGetTensorImpl()->version_counter().current_version();
}

const std::string& VariableHooks::name(const at::TensorBase& self) const {
  TORCH_CHECK(self.defined(), "cannot call variable_name() on undefined tensor");
  static const std::string none;
  const AutogradMeta* meta = impl::get_autograd_meta(self);
  return meta && meta->extras_ ? meta->extras_->name : none;
}

bool VariableHooks::is_view(const at::TensorBase& self) const {
  return impl::get_view_autograd_meta(self) != nullptr;
}

const at::TensorBase& VariableHooks::base(const at::TensorBase& self) const {
  const DifferentiableViewMeta* meta = impl::get_view_autograd_meta(self);
  TORCH_CHECK(meta != nullptr, "Can't get base of non-view Tensor");
  return meta->get_backward_view().base_;
}

// One thread at a time brings a view up to date. Nothing below takes another of these locks: whatever tensors are
// touched meanwhile are bases, or fresh views, which are up to date.
std::mutex& view_mutex_of(const DifferentiableViewMeta* meta) {
  static std::array<std::mutex, 64> mutexes;
  return mutexes[reinterpret_cast<uintptr_t>(meta) / 64 % mutexes.size()];
}

// The grad_fn that the view would have if it were made anew of its base.
std::shared_ptr<Node> remade_grad_fn(const at::TensorBase& self, const ViewInfo& info) {
  if (!info.has_view_fn()) {
    return make_node<AsStridedFromBase>(info.base_, self);
  }
  const AutoGradMode grad_mode(true);
  at::Tensor view = info.view_fn()(info.base_);
  if (!utils::has_same_meta(view, at::Tensor(self))) { // its sizes were changed in place since it was made
    view = view.as_strided(self.sizes(), self.strides(), self.storage_offset());
  }
  return impl::get_autograd_meta(view)->grad_fn_;
}

const std::shared_ptr<Node>& VariableHooks::grad_fn(const at::TensorBase& tensor) const {
  const at::TensorBase& self = with_history(tensor);
  static const std::shared_ptr<Node> none;
  DifferentiableViewMeta* meta = impl::get_view_autograd_meta(self);
  if (meta == nullptr) {
    const AutogradMeta* plain = impl::get_autograd_meta(self);
    return plain ? plain->grad_fn_ : none;
  }
  const ViewInfo& info = meta->get_backward_view();
  const auto version = self.unsafeGetTensorImpl()->version_counter().current_version();
  if (meta->get_attr_version() == version) {
    return meta->grad_fn_;
  }
  const std::lock_guard<std::mutex> lock(view_mutex_of(meta));
  if (meta->get_attr_version() == version || (!meta->grad_fn_ && !info.base_.requires_grad())) {
    return meta->grad_fn_;
  }
  // The base, or another view of it, was changed in place since.
  handle_view_on_rebase(meta, /*indirect=*/true);
  const Edge old_edge(meta->grad_fn_, meta->output_nr_);
  const Edge new_edge(remade_grad_fn(self, info), 0);
  meta->grad_fn_ = new_edge.function;
  meta->output_nr_ = 0;
  impl::update_tensor_hooks_on_new_gradfn(self, old_edge, new_edge);
  meta->set_attr_version(version);
  return meta->grad_fn_;
}

unsigned VariableHooks::_register_hook(
    const at::TensorBase& self, std::function<at::TensorBase(const at::TensorBase&)> hook) const {
  TORCH_CHECK(self.requires_grad(), "cannot register a hook on a variable that doesn't require gradient");
  self.grad_fn(); // a view that is out of date gets its new grad_fn, and an empty list of hooks
  AutogradMeta::Extras& extras = impl::materialize_autograd_meta(self)->extras();
  if (!extras.cpp_hooks_list) {
    impl::create_cpp_hook(self);
  }
  extras.cpp_hooks_list->push_back(std::move(hook));
  return static_cast<unsigned>(extras.cpp_hooks_list->size() - 1);
}

void VariableHooks::remove_hook(const at::TensorBase& self, unsigned pos) const {
  AutogradMeta* meta = impl::materialize_autograd_meta(self);
  const std::shared_ptr<hooks_list> list = meta->extras_ ? meta->extras_->cpp_hooks_list : nullptr;
  TORCH_CHECK(list && pos < list->size(), "Invalid index, no hook at position ", pos);
  (*list)[pos] = nullptr;
}

void VariableHooks::retain_grad(const at::TensorBase& self) const {
  TORCH_CHECK(self.requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  // A leaf keeps its gradient anyway.
  const std::shared_ptr<Node> fn = self.grad_fn();
  if (!fn) {
    return;
  }
  AutogradMeta* meta = impl::get_autograd_meta(self);
  if (meta->retains_grad_) {
    return;
  }
  const c10::weak_intrusive_ptr<c10::TensorImpl> weak_self(self.getIntrusivePtr());
  auto keep = [weak_self](const at::TensorBase& grad_base) {
    const auto tensor = weak_self.lock();
    if (tensor && grad_base.defined()) {
      const at::Tensor grad(grad_base);
      at::Tensor& kept = tensor->mutable_grad();
      kept = kept.defined() ? kept + grad : grad.clone(at::MemoryFormat::Contiguous);
    }
    return at::TensorBase();
  };
  fn->add_retains_grad_hook(
      std::make_unique<CppFunctionSingleTensorPreHook>(std::move(keep), meta->output_nr_), meta->output_nr_);
  meta->retains_grad_ = true;
}

bool VariableHooks::retains_grad(const at::TensorBase& self) const {
  const AutogradMeta* meta = impl::get_autograd_meta(self);
  return meta && meta->retains_grad_;
}

void VariableHooks::requires_grad_(const at::TensorBase& self, bool requires_grad) const {
  TORCH_CHECK(
      !at::functorch::isBatchedTensor(self),
      "You are attempting to call Tensor.requires_grad_() inside of a function being transformed by a functorch "
      "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, "
      "hessian) or call requires_grad_() outside of a function being transformed instead.");
  TORCH_CHECK(
      self.is_leaf() || requires_grad,
      "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
      "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  self.set_requires_grad(requires_grad);
}

void VariableHooks::detach_(const at::TensorBase& self) const {
  TORCH_CHECK(
      !self.is_view(),
      "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
      "training, ",
      "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be ",
      "called on these gradients.");
  AutogradMeta* meta = impl::get_autograd_meta(self);
  if (meta == nullptr) {
    return;
  }
  // What belongs to the old value stays with its node.
  impl::update_tensor_hooks_on_new_gradfn(self, Edge(meta->grad_fn_, meta->output_nr_), Edge());
  meta->set_requires_grad(false, self.unsafeGetTensorImpl());
  meta->grad_fn_.reset();
  meta->output_nr_ = 0;
  meta->retains_grad_ = false;
}

void VariableHooks::set_data(const at::TensorBase& self, const at::TensorBase& new_data) const {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(
      impl->has_compatible_shallow_copy_type(new_data.key_set()),
      "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.");
  TORCH_CHECK(
      !self.requires_grad() || isDifferentiableType(new_data.scalar_type()),
      "data set to a tensor that requires gradients must be floating point or complex dtype");
  // The accumulator expects gradients of the old type.
  if (AutogradMeta* meta = impl::get_autograd_meta(self)) {
    const std::shared_ptr<Node> accumulator = impl::try_get_grad_accumulator(self);
    if (accumulator &&
        (!new_data.options().type_equal(self.options()) ||
         accumulator->input_metadata(0).device() != new_data.device())) {
      meta->grad_accumulator_.reset();
    }
  }
  impl->shallow_copy_from(new_data.getIntrusivePtr());
}

void VariableHooks::_backward(
    const at::Tensor& self,
    at::TensorList inputs,
    const std::optional<at::Tensor>& gradient,
    std::optional<bool> keep_graph,
    bool create_graph) const {
  backward({self}, {gradient.value_or(at::Tensor())}, keep_graph, create_graph, inputs.vec());
}

void VariableHooks::basic_autograd_not_implemented_fallback(
    const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) const {
  detail::basic_autograd_not_implemented_fallback(op, dispatch_keys, stack);
}

} // namespace

} // namespace torch::autograd
