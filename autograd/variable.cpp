#include <autograd/variable.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <autograd/autograd_meta_extras.h>
#include <autograd/functions/accumulate_grad.h>
#include <autograd/functions/tensor.h>
#include <autograd/functions/utils.h>
#include <autograd/view_func.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <array>
#include <mutex>

namespace torch::autograd {

namespace {

// Guards the making of a leaf's accumulator, which two threads may want at once. It is rare, so a few locks serve all
// tensors and keep their history data small. Nothing else is locked inside.
std::mutex& accumulator_mutex_of(const AutogradMeta* meta) {
  static std::array<std::mutex, 64> mutexes;
  return mutexes[reinterpret_cast<uintptr_t>(meta) / 64 % mutexes.size()];
}
// The same where there may be another thread.
C10_ALWAYS_INLINE std::unique_lock<std::mutex> lock_accumulator(const AutogradMeta* meta) {
  return c10::detail::single_threaded() ? std::unique_lock<std::mutex>() : std::unique_lock(accumulator_mutex_of(meta));
}

struct AutogradMetaFactory final : c10::impl::AutogradMetaFactory {
  std::unique_ptr<c10::AutogradMetaInterface> make() const override {
    return std::make_unique<AutogradMeta>();
  }
  const at::Tensor& undefined_tensor() const override {
    static const at::Tensor undefined;
    return undefined;
  }
};

AutogradMetaFactory meta_factory;
const c10::impl::AutogradMetaFactoryRegisterer meta_factory_registerer(&meta_factory);

} // namespace

AutogradMeta::AutogradMeta(c10::TensorImpl* self_impl, bool requires_grad, Edge gradient_edge)
    : grad_fn_(std::move(gradient_edge.function)), output_nr_(gradient_edge.input_nr) {
  if (requires_grad) {
    set_requires_grad(true, self_impl);
  }
  TORCH_CHECK(!grad_fn_ || !requires_grad_, "requires_grad should be false if grad_fn is set");
}

AutogradMeta::AutogradMeta(std::shared_ptr<Node>&& grad_fn, uint32_t output_nr) noexcept
    : grad_fn_(std::move(grad_fn)), output_nr_(output_nr) {}

AutogradMeta::~AutogradMeta() = default;

// Out of line, as few tensors have any.
C10_NOINLINE AutogradMeta::Extras::~Extras() {
  if (owns_forward_grad) {
    forward_grad->forget_owner();
  }
}

AutogradMeta::Extras& AutogradMeta::extras() {
  if (!extras_) {
    extras_.reset(new Extras());
  }
  return *extras_;
}

void AutogradMeta::set_requires_grad(bool requires_grad, c10::TensorImpl* self_impl) {
  TORCH_CHECK(
      !requires_grad || isDifferentiableType(c10::typeMetaToScalarType(self_impl->dtype())),
      "Only Tensors of floating point and complex dtype can require gradients, got ",
      c10::typeMetaToScalarType(self_impl->dtype()));
  requires_grad_ = requires_grad;
}

ViewInfo::ViewInfo(Variable base, std::unique_ptr<ViewFunc> view_fn)
    : base_(std::move(base)), view_fn_(std::move(view_fn)) {
  TORCH_CHECK(base_.defined(), "base is undefined");
}

ViewInfo ViewInfo::chain(const Variable& base, const Variable& tensor, std::unique_ptr<ViewFunc> view_func) const {
  if (!view_func && !has_view_fn()) {
    return ViewInfo(base_, nullptr);
  }
  for (const ViewFunc* step :
       {static_cast<const ViewFunc*>(view_fn_.get()), static_cast<const ViewFunc*>(view_func.get())}) {
    if (dynamic_cast<const ErroringViewFunc*>(step) != nullptr) {
      return ViewInfo(base_, step->clone_and_set());
    }
  }
  // One of the two steps cannot be repeated by as_strided, so both must be repeated one after the other. Offsets count
  // from that of the tensor a step starts from, which may lie elsewhere the next time.
  using Strides = std::vector<int64_t>;
  struct Restride {
    at::Tensor operator()(const at::Tensor& t) const {
      return t.as_strided(sizes, strides, t.storage_offset() + offset);
    }
    Strides sizes;
    Strides strides;
    int64_t offset;
  };
  const auto restride = [](const Variable& from, const Variable& to) {
    return make_view_func(Restride{to.sizes().vec(), to.strides().vec(), to.storage_offset() - from.storage_offset()});
  };
  std::shared_ptr<ViewFunc> first;
  if (has_view_fn()) {
    first = view_fn_->clone_and_set();
    // Not tracked: each step would be chained in turn, twice as much work with each.
    const Variable made = [&] {
      const at::AutoDispatchBelowADInplaceOrView guard;
      return (*first)(base_);
    }();
    if (!utils::has_same_meta(made, base)) { // its sizes were changed in place after view_fn_ made it
      const std::shared_ptr<ViewFunc> change = restride(made, base);
      first = make_view_func([first, change](const at::Tensor& t) { return (*change)((*first)(t)); });
    }
  } else {
    first = restride(base_, base);
  }
  std::shared_ptr<ViewFunc> second = view_func ? std::move(view_func) : restride(base, tensor);
  return ViewInfo(base_, make_view_func([first, second](const at::Tensor& t) { return (*second)((*first)(t)); }));
}

DifferentiableViewMeta::DifferentiableViewMeta(
    c10::TensorImpl* self_impl, ViewInfo backward_info, CreationMeta creation_meta)
    : AutogradMeta(std::shared_ptr<Node>(), 0),
      backward_info_(std::move(backward_info)),
      creation_meta_(creation_meta) {
  is_view_ = true;
  const c10::VariableVersion& counter = backward_info_.base_.unsafeGetTensorImpl()->version_counter();
  self_impl->set_version_counter(c10::VariableVersion(counter));
  attr_version_.store(counter.current_version(), std::memory_order_relaxed);
}

DifferentiableViewMeta::~DifferentiableViewMeta() = default;

void handle_view_on_rebase(DifferentiableViewMeta* diff_view_meta, bool indirect) {
  const CreationMeta creation_meta = diff_view_meta->get_creation_meta();
  if (creation_meta == CreationMeta::DEFAULT) {
    return;
  }
  const ViewInfo& info = diff_view_meta->get_backward_view();
  if (creation_meta == CreationMeta::IN_CUSTOM_FUNCTION && info.has_view_fn() &&
      dynamic_cast<const ErroringViewFunc*>(&info.view_fn()) != nullptr) {
    info.view_fn()(info.base_); // throws what names the operator
  }
  const Node* grad_fn = diff_view_meta->grad_fn_.get();
  const char* modified = indirect ? "its base or another view of its base has been" : "is being";
  const std::string which =
      grad_fn ? c10::str("Output ", diff_view_meta->output_nr_, " of ", grad_fn->name()) : std::string("A view");

  std::string what;
  if (creation_meta == CreationMeta::INFERENCE_MODE || creation_meta == CreationMeta::NO_GRAD_MODE || !grad_fn) {
    const bool inference = creation_meta == CreationMeta::INFERENCE_MODE;
    what = c10::str(
        which, grad_fn ? " is a view of a view which" : "", " was created in ", inference ? "inference" : "no_grad",
        " mode and ", modified, " modified inplace ", inference ? "in normal mode." : "with grad mode enabled.");
  } else {
    what = c10::str(which, " is a view and ", modified, " modified inplace.");
  }

  std::string advice;
  switch (creation_meta) {
    case CreationMeta::MULTI_OUTPUT_NODE:
      advice =
          " This view is the output of a function that returns multiple views. Such functions do not allow the output "
          "views to be modified inplace. You should replace the inplace operation by an out-of-place one.";
      break;
    case CreationMeta::NO_GRAD_MODE:
    case CreationMeta::INFERENCE_MODE: {
      const char* block = creation_meta == CreationMeta::NO_GRAD_MODE ? "no_grad" : "inference_mode";
      advice = c10::str(
          " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
          "moving both the view and the inplace either both inside the ",
          block,
          " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
          "tracked).");
      break;
    }
    case CreationMeta::IN_CUSTOM_FUNCTION:
      advice =
          " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
          "logic to handle view+inplace would override the custom backward associated with the custom Function, "
          "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
          "custom Function.";
      break;
    case CreationMeta::DEFAULT:
      break;
  }
  TORCH_CHECK(false, what, advice);
}

namespace impl {

AutogradMeta* materialize_autograd_meta(const at::TensorBase& self) {
  TORCH_CHECK(self.defined(), "cannot call materialize_autograd_meta() on undefined tensor");
  c10::TensorImpl* tensor = self.unsafeGetTensorImpl();
  if (tensor->autograd_meta() == nullptr) {
    tensor->set_autograd_meta(std::make_unique<AutogradMeta>());
  }
  return get_autograd_meta(self);
}

void update_tensor_hooks_on_new_gradfn(const at::TensorBase& self, const Edge& old_edge, const Edge& new_edge) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return;
  }
  if (meta->retains_grad_ && old_edge.is_valid() && new_edge.is_valid()) {
    if (std::unique_ptr<FunctionPreHook> hook = old_edge.function->pop_retains_grad_hook(old_edge.input_nr)) {
      if (auto* single = dynamic_cast<CppFunctionSingleTensorPreHook*>(hook.get())) {
        single->value_idx_ = new_edge.input_nr;
      }
      new_edge.function->add_retains_grad_hook(std::move(hook), new_edge.input_nr);
    }
  }
  // The list lives on in the old node, whose value the hooks were registered for.
  if (meta->extras_) {
    meta->extras_->cpp_hooks_list = nullptr;
  }
}

void rebase_history(const Variable& self, Edge gradient_edge) {
  TORCH_INTERNAL_ASSERT(gradient_edge.function != nullptr, "rebase_history needs a node");
  if (!isDifferentiableType(self.scalar_type())) {
    return; // integers that were written to, from numbers that require grad
  }
  if (DifferentiableViewMeta* view_meta = get_view_autograd_meta(self)) {
    TORCH_INTERNAL_ASSERT(
        view_meta->get_creation_meta() == CreationMeta::DEFAULT, "check_inplace must run before rebase_history");
    TORCH_INTERNAL_ASSERT(gradient_edge.input_nr == 0, "an in-place change of a view has one output");
    TORCH_CHECK(
        gradient_edge.function->num_inputs() == 1,
        "Functions which modify views in-place must return a single Variable");
    const ViewInfo& info = view_meta->get_backward_view();
    const Edge old_edge(info.base_.grad_fn(), static_cast<uint32_t>(info.base_.output_nr()));
    const Edge new_edge(
        make_node<CopySlices>(
            info.base_, at::TensorGeometry(self), info.has_view_fn() ? info.view_fn().clone_and_set() : nullptr,
            std::move(gradient_edge.function)),
        0);
    update_tensor_hooks_on_new_gradfn(info.base_, old_edge, new_edge);
    set_gradient_edge(info.base_, new_edge);
    self.grad_fn(); // brings the view's own grad_fn up to date
    return;
  }
  const AutogradMeta* meta = materialize_autograd_meta(self);
  update_tensor_hooks_on_new_gradfn(self, Edge(meta->grad_fn_, meta->output_nr_), gradient_edge);
  set_gradient_edge(self, std::move(gradient_edge));
}

void set_gradient_edge(const Variable& self, Edge edge) {
  AutogradMeta* meta = materialize_autograd_meta(self);
  meta->grad_fn_ = std::move(edge.function);
  meta->output_nr_ = edge.input_nr;
  if (meta->is_view_) {
    // The new grad_fn belongs to the present contents: grad_fn() must not replace it.
    static_cast<DifferentiableViewMeta*>(meta)->set_attr_version(static_cast<uint32_t>(self._version()));
  }
}

Node* grad_fn_unsafe(const Variable& self) {
  const AutogradMeta* meta = get_autograd_meta(self);
  return meta ? meta->grad_fn_.get() : nullptr;
}

std::shared_ptr<Node> try_get_grad_accumulator(const at::TensorBase& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return nullptr;
  }
  const auto lock = lock_accumulator(meta);
  return meta->grad_accumulator_.lock();
}

namespace {

C10_NOINLINE std::shared_ptr<Node> find_or_make_accumulator(AutogradMeta* meta, const at::TensorBase& self) {
  const auto lock = lock_accumulator(meta);
  if (std::shared_ptr<Node> existing = meta->grad_accumulator_.lock()) {
    return existing;
  }
  std::shared_ptr<Node> made = make_node<AccumulateGrad>(Variable(self));
  meta->grad_accumulator_ = made;
  return made;
}

// Sets an edge that goes nowhere yet, to the accumulator of a leaf; false where there is none, or it is not to be had
// so easily.
C10_ALWAYS_INLINE bool set_edge_to_accumulator(Edge& edge, const AutogradMeta* meta) {
  if (C10_UNLIKELY(
          !meta->requires_grad_ || meta->is_view_ || meta->grad_fn_ != nullptr || !c10::detail::single_threaded())) {
    return false;
  }
  // Made anew in its place, as an empty pointer has nothing to give back.
  ::new (static_cast<void*>(&edge.function)) std::shared_ptr<Node>(meta->grad_accumulator_.lock());
  return edge.function != nullptr;
}

// Sets any edge that goes nowhere yet.
C10_ALWAYS_INLINE void set_edge(Edge& edge, AutogradMeta* meta, const at::TensorBase& self) {
  // Only the grad_fn of a view may be out of date.
  const std::shared_ptr<Node>& grad_fn = C10_UNLIKELY(meta->is_view_) ? self.grad_fn() : meta->grad_fn_;
  if (C10_LIKELY(grad_fn != nullptr)) {
    ::new (static_cast<void*>(&edge.function)) std::shared_ptr<Node>(grad_fn);
    edge.input_nr = meta->output_nr_;
  } else if (!set_edge_to_accumulator(edge, meta) && meta->requires_grad_) {
    edge.function = find_or_make_accumulator(meta, self);
  }
}

} // namespace

std::shared_ptr<Node> grad_accumulator(const at::TensorBase& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta == nullptr) {
    return nullptr;
  }
  TORCH_CHECK(!meta->grad_fn_, "grad_accumulator() should be only called on leaf Variables");
  return meta->requires_grad_ ? find_or_make_accumulator(meta, self) : nullptr;
}

void set_grad_accumulator(const Variable& self, std::weak_ptr<Node> grad_accumulator) {
  materialize_autograd_meta(self)->grad_accumulator_ = std::move(grad_accumulator);
}

Edge gradient_edge(const at::TensorBase& self) {
  Edge edge;
  if (AutogradMeta* const meta = get_autograd_meta(self)) {
    set_edge(edge, meta, self);
  }
  return edge;
}

void set_version_counter(const Variable& self, const c10::VariableVersion& version_counter) {
  TORCH_CHECK(self.defined(), "cannot call set_version_counter() on undefined tensor");
  self.unsafeGetTensorImpl()->set_version_counter(version_counter);
}

const c10::VariableVersion& version_counter(const Variable& self) {
  TORCH_CHECK(self.defined(), "cannot call version_counter() on undefined tensor");
  return self.unsafeGetTensorImpl()->version_counter();
}

void set_name(const Variable& self, const std::string& name) {
  materialize_autograd_meta(self)->extras().name = name;
}

void add_hook(const at::TensorBase& self, std::unique_ptr<FunctionPreHook> hook) {
  materialize_autograd_meta(self)->extras().hooks.push_back(std::move(hook));
}

std::vector<std::unique_ptr<FunctionPreHook>>& hooks(const at::TensorBase& self) {
  return materialize_autograd_meta(self)->extras().hooks;
}

void clear_hooks(const at::TensorBase& self) {
  AutogradMeta* meta = get_autograd_meta(self);
  if (meta && meta->extras_) {
    meta->extras_->hooks.clear();
  }
}

void create_cpp_hook(const at::TensorBase& self) {
  const std::shared_ptr<Node> fn = self.grad_fn();
  AutogradMeta::Extras& extras = materialize_autograd_meta(self)->extras();
  extras.cpp_hooks_list = std::make_shared<hooks_list>();
  // For a leaf, the accumulator asks the tensor; for others the hooks belong to the present grad_fn.
  extras.hooks.clear();
  extras.hooks.push_back(std::make_unique<CppFunctionTensorPreHook>(extras.cpp_hooks_list, 0));
  if (fn) {
    fn->add_tensor_pre_hook(
        std::make_unique<CppFunctionTensorPreHook>(extras.cpp_hooks_list, static_cast<size_t>(self.output_nr())));
  }
}

void set_post_acc_grad_hooks(const at::TensorBase& self, std::unique_ptr<PostAccumulateGradHook> hook) {
  TORCH_CHECK(self.is_leaf(), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  materialize_autograd_meta(self)->extras().post_acc_grad_hook = std::move(hook);
}

std::unique_ptr<PostAccumulateGradHook>& post_acc_grad_hooks(const at::TensorBase& self) {
  return materialize_autograd_meta(self)->extras().post_acc_grad_hook;
}

} // namespace impl

__attribute__((flatten)) Variable make_variable_differentiable_view(
    const at::Tensor& data, ViewInfo backward_info, CreationMeta creation_meta, bool allow_tensor_metadata_change) {
  if (!data.defined()) {
    return Variable();
  }
  c10::TensorImpl* tensor = data.unsafeGetTensorImpl();
  TORCH_CHECK(
      tensor->autograd_meta() == nullptr,
      "Attempted to make a tensor into a differentiable view, but the tensor already had autograd metadata associated ",
      "with it. A view operator must return a fresh tensor.");
  tensor->set_allow_tensor_metadata_change(allow_tensor_metadata_change);
  tensor->set_autograd_meta(std::make_unique<DifferentiableViewMeta>(tensor, std::move(backward_info), creation_meta));
  return data;
}

Variable make_variable_non_differentiable_view(
    const Variable& base, const at::Tensor& data, bool allow_tensor_metadata_change, bool is_fresh_tensor) {
  if (!data.defined()) {
    return Variable();
  }
  if (is_fresh_tensor) {
    c10::TensorImpl* tensor = data.unsafeGetTensorImpl();
    tensor->set_version_counter(impl::version_counter(base));
    tensor->set_allow_tensor_metadata_change(allow_tensor_metadata_change);
    tensor->set_autograd_meta(nullptr);
    return data;
  }
  auto copy =
      data.getIntrusivePtr()->shallow_copy_and_detach(impl::version_counter(base), allow_tensor_metadata_change);
  copy->set_autograd_meta(nullptr);
  return Variable(std::move(copy));
}

Variable make_variable(at::Tensor data, bool requires_grad, bool allow_tensor_metadata_change) {
  if (!data.defined()) {
    return Variable();
  }
  if (data.use_count() != 1 || !data.unsafeGetTensorImpl()->unique_version()) {
    data = Variable(
        data.getIntrusivePtr()->shallow_copy_and_detach(c10::VariableVersion(0), allow_tensor_metadata_change));
  }
  c10::TensorImpl* tensor = data.unsafeGetTensorImpl();
  tensor->set_allow_tensor_metadata_change(allow_tensor_metadata_change);
  tensor->set_autograd_meta(requires_grad ? std::make_unique<AutogradMeta>(tensor, true) : nullptr);
  return data;
}

Variable make_variable(const at::Tensor& data, Edge gradient_edge, bool allow_tensor_metadata_change) {
  if (!data.defined()) {
    return Variable();
  }
  auto copy = data.getIntrusivePtr()->shallow_copy_and_detach(c10::VariableVersion(0), allow_tensor_metadata_change);
  copy->set_autograd_meta(std::make_unique<AutogradMeta>(copy.get(), false, std::move(gradient_edge)));
  return Variable(std::move(copy));
}

// Here, for set_history().
InputMetadata::InputMetadata(const at::Tensor& t) : was_default_constructed_(false) {
  const c10::TensorImpl& tensor = *t.unsafeGetTensorImpl();
  const c10::impl::SizesAndStrides& shape = tensor.sizes_and_strides();
  if (C10_UNLIKELY(!tensor.is_plain_cpu() || !tensor.dtype().isScalarType() || shape.size() > shape_.capacity())) {
    set_unusual(t);
    return;
  }
  // A dense tensor on the CPU, which is what the members say to begin with.
  dtype_ = c10::typeMetaToScalarType(tensor.dtype());
  const size_t dim = shape.size();
  const int64_t* const sizes = shape.sizes_data();
  shape_.resize_for_overwrite(dim);
  for (size_t d = 0; d < dim; ++d) {
    shape_[d] = sizes[d];
  }
}

namespace {

C10_NOINLINE void set_any_history(const at::Tensor& variable, const std::shared_ptr<Node>& grad_fn) {
  set_history(variable, grad_fn);
}

} // namespace

// What every recorded result gets: with all that it calls in one function.
__attribute__((flatten)) void set_history(const at::Tensor& variable, std::shared_ptr<Node>&& grad_fn) {
  c10::TensorImpl* const tensor = variable.unsafeGetTensorImpl();
  const caffe2::TypeMeta type = tensor->dtype(); // an undefined tensor has none
  if (C10_UNLIKELY(
          tensor->autograd_meta() != nullptr || !type.isScalarType() ||
          !isDifferentiableType(c10::typeMetaToScalarType(type)))) {
    return set_any_history(variable, grad_fn);
  }
  const uint32_t output_nr = grad_fn->add_input_metadata(variable);
  tensor->set_autograd_meta(std::make_unique<AutogradMeta>(std::move(grad_fn), output_nr));
}

namespace detail {

namespace {

// The undefined tensor has no history either.
AutogradMeta* meta_of(const at::Tensor& variable) {
  return static_cast<AutogradMeta*>(variable.unsafeGetTensorImpl()->autograd_meta());
}

C10_NOINLINE void record_any_edge(Node& node, Edge& edge, AutogradMeta* meta, const at::Tensor& variable) {
  impl::set_edge(edge, meta, variable);
  node.update_topological_nr(edge);
}

C10_NOINLINE void record_edge_in_more_room(Node& node, const at::Tensor& variable) {
  node.next_edges().reserve(node.next_edges().size() + 1);
  record_edges_of(node, variable);
}

} // namespace

void append_next_edges(edge_list& edges, const at::Tensor& variable) {
  Edge& edge = edges.emplace_back();
  if (AutogradMeta* const meta = meta_of(variable)) {
    impl::set_edge(edge, meta, variable);
  }
}

// What it calls, it calls last, so that it needs no frame.
void record_edges_of(Node& node, const at::Tensor& variable) {
  edge_list& edges = node.next_edges();
  if (C10_UNLIKELY(edges.size() == edges.capacity())) {
    return record_edge_in_more_room(node, variable);
  }
  Edge& edge = edges.emplace_back();
  AutogradMeta* const meta = meta_of(variable);
  if (meta == nullptr) {
    return;
  }
  if (impl::set_edge_to_accumulator(edge, meta)) {
    return node.update_topological_nr(edge);
  }
  record_any_edge(node, edge, meta, variable);
}

} // namespace detail

namespace utils {

bool has_same_meta(const Variable& base, const Variable& other) {
  return base.defined() && other.defined() && base.sizes() == other.sizes() && base.strides() == other.strides() &&
      base.storage_offset() == other.storage_offset() && base.storage().nbytes() == other.storage().nbytes();
}

} // namespace utils

} // namespace torch::autograd
