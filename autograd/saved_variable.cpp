#include <autograd/saved_variable.h>

#include <autograd/anomaly_mode.h>
#include <autograd/edge.h>
#include <autograd/forward/forward_grad.h>
#include <autograd/forward/levels.h>
#include <autograd/function.h>
#include <autograd/graph.h>
#include <autograd/grad_mode.h>
#include <autograd/rebound_variable.h>
#include <autograd/variable.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <utility>

namespace torch::autograd {

const char* ERR_BACKWARD_TWICE =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward.";

namespace {

__thread const SavedVariableHooksFactory* default_hooks __attribute__((tls_model("initial-exec"))) = nullptr;
// Why hooks may not be set now; null if they may. Owned by the guard that forbids them.
__thread const std::string* hooks_disabled __attribute__((tls_model("initial-exec"))) = nullptr;

void check_hooks_enabled() {
  TORCH_CHECK(hooks_disabled == nullptr, *hooks_disabled);
}

// Hooks of two plain functions, with a tensor between them.
class FunctionPairHooks final : public SavedVariableHooks {
 public:
  using Function = std::function<at::Tensor(const at::Tensor&)>;
  FunctionPairHooks(Function pack, Function unpack) : pack_(std::move(pack)), unpack_(std::move(unpack)) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    packed_ = pack_(tensor);
  }
  at::Tensor call_unpack_hook() override {
    return unpack_(packed_);
  }

 private:
  Function pack_;
  Function unpack_;
  at::Tensor packed_;
};

FunctionPairHooks::Function checked(FunctionPairHooks::Function hook, const char* which) {
  TORCH_CHECK(hook, "SavedTensorHooksGuard: ", which, " is no function");
  return hook;
}

// The engine lets nodes that are not recorded go straight to kernels. A hook is anybody's code: what it records under a
// grad mode of its own, as a checkpoint that recomputes, must be recorded.
at::Tensor unpack_with(SavedVariableHooks& hooks) {
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  const c10::impl::ForceDispatchKeyGuard guard(
      keys.included_, keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  at::Tensor tensor = hooks.call_unpack_hook();
  TORCH_CHECK(
      tensor.defined(),
      "Output of saved tensor unpack_hook expected to be a Tensor but got an undefined one. It must be "
      "one with the values of the tensor that was packed");
  return tensor;
}

} // namespace

namespace impl {

const SavedVariableHooksFactory* default_saved_tensor_hooks() {
  return default_hooks;
}

const SavedVariableHooksFactory* exchange_default_saved_tensor_hooks(const SavedVariableHooksFactory* factory) {
  return std::exchange(default_hooks, factory);
}

std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks() {
  return default_hooks ? (*default_hooks)() : nullptr;
}

} // namespace impl

SavedTensorHooksGuard::SavedTensorHooksGuard(SavedVariableHooksFactory factory)
    : factory_(std::move(factory)), previous_(default_hooks) {
  check_hooks_enabled();
  default_hooks = &factory_;
}

SavedTensorHooksGuard::SavedTensorHooksGuard(
    std::function<at::Tensor(const at::Tensor&)> pack, std::function<at::Tensor(const at::Tensor&)> unpack)
    : SavedTensorHooksGuard([pack = checked(std::move(pack), "pack"), unpack = checked(std::move(unpack), "unpack")] {
        return std::make_unique<FunctionPairHooks>(pack, unpack);
      }) {}

SavedTensorHooksGuard::~SavedTensorHooksGuard() {
  default_hooks = previous_;
}

namespace graph {

DisableSavedTensorHooksGuard::DisableSavedTensorHooksGuard(std::string error_message)
    : error_message_(std::move(error_message)), previous_(hooks_disabled) {
  TORCH_CHECK(default_hooks == nullptr, error_message_);
  hooks_disabled = &error_message_;
}

DisableSavedTensorHooksGuard::~DisableSavedTensorHooksGuard() {
  hooks_disabled = previous_;
}

bool saved_tensor_hooks_enabled() {
  return hooks_disabled == nullptr;
}

} // namespace graph

struct SavedVariable::Extra {
  std::unique_ptr<SavedVariableHooks> hooks;
  // With hooks the tensor may come back as another one, and one that is rebound will have another history, so what its
  // history was must be kept here.
  std::shared_ptr<Node> grad_fn;
  std::shared_ptr<Node> grad_accumulator;
  // Of a view that was changed in place. Weak, because it leads to the node that keeps this value.
  std::weak_ptr<Node> weak_grad_fn;
  // The tangents of the tensor, also those that it gets after it was saved, as results of operators do.
  std::shared_ptr<ForwardGrad> forward_grad;
};

namespace {

// What a tensor that is not kept itself has of forward mode; null outside of levels.
std::shared_ptr<ForwardGrad> tangents_to_keep(const Variable& variable) {
  if (!forward_ad::any_level() || !isDifferentiableType(variable.scalar_type())) {
    return nullptr;
  }
  return forward_ad::DualCall::is_running() ? impl::materialize_forward_grad(variable) : impl::forward_grad(variable);
}

} // namespace

SavedVariable::SavedVariable() = default;

SavedVariable::SavedVariable(SavedVariable&& other) noexcept = default;
SavedVariable& SavedVariable::operator=(SavedVariable&& other) noexcept = default;
SavedVariable::~SavedVariable() = default;

SavedVariable::SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view) {
  if (!variable.defined()) {
    return;
  }
  TORCH_CHECK(
      !variable.is_inference(),
      "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and ",
      "use it in autograd.");
  was_default_constructed_ = false;
  saved_version_ = impl::version_counter(variable).current_version();
  const AutogradMeta* meta = impl::get_autograd_meta(variable);
  is_leaf_ = meta == nullptr || meta->grad_fn_ == nullptr;
  is_output_ = is_output;
  // The grad_fn of an output that is a view may be another node than the one that keeps it: if the view was changed in
  // place, a node that leads through the base.
  is_inplace_on_view_ = is_inplace_on_view || (is_output && !is_leaf_ && meta->is_view_);
  if (is_inplace_on_view_) {
    TORCH_INTERNAL_ASSERT(!is_leaf_ && is_output, "an in-place result on a view is an output with a grad_fn");
    extra_ = std::make_unique<Extra>();
    extra_->weak_grad_fn = variable.grad_fn();
  }

  // Numbers that were wrapped into tensors are no concern of the user's hooks.
  if (C10_UNLIKELY(default_hooks != nullptr) && !variable.unsafeGetTensorImpl()->is_wrapped_number()) {
    if (std::unique_ptr<SavedVariableHooks> hooks = impl::get_default_saved_variable_hooks()) {
      save_metadata(variable);
      pack_with(std::move(hooks), variable);
      return;
    }
  }

  // A tensor that the keeping node has not made has another node as its history, and a leaf holds its accumulator only
  // weakly: neither makes a cycle, so the tensor itself is kept.
  const bool rebound = C10_UNLIKELY(impl::is_rebound(meta));
  if ((!is_output || is_leaf_) && !rebound) {
    saved_original_ = true;
    data_ = variable;
    return;
  }
  save_metadata(variable);
  data_ = variable.tensor_data();
  if (rebound && !is_output && !is_leaf_) {
    if (!extra_) {
      extra_ = std::make_unique<Extra>();
    }
    extra_->grad_fn = variable.grad_fn();
  }
}

SavedVariable::SavedVariable(const std::optional<Variable>& variable, bool is_output, bool is_inplace_on_view)
    : SavedVariable(variable.has_value() ? *variable : Variable(), is_output, is_inplace_on_view) {}

void SavedVariable::save_metadata(const Variable& variable) {
  output_nr_ = static_cast<uint32_t>(variable.output_nr());
  if (C10_UNLIKELY(forward_ad::any_level())) {
    if (std::shared_ptr<ForwardGrad> forward_grad = tangents_to_keep(variable)) {
      if (!extra_) {
        extra_ = std::make_unique<Extra>();
      }
      extra_->forward_grad = std::move(forward_grad);
    }
  }
}

void SavedVariable::pack_with(std::unique_ptr<SavedVariableHooks>&& hooks, const Variable& variable) {
  if (!extra_) {
    extra_ = std::make_unique<Extra>();
  }
  extra_->hooks = std::move(hooks);
  if (is_leaf_) {
    requires_grad_ = variable.requires_grad();
    extra_->grad_accumulator = impl::grad_accumulator(variable);
  } else if (!is_output_ && !extra_->grad_fn) {
    extra_->grad_fn = variable.grad_fn();
  }
  // The hook gets the bare data: what it computes with it is not part of the graph, and it must make no cycle.
  const AutoGradMode no_grad(false);
  const uint32_t version = impl::version_counter(variable).current_version();
  extra_->hooks->call_pack_hook(variable.detach());
  TORCH_CHECK(
      impl::version_counter(variable).current_version() == version,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be ",
      "modified by in-place operations.");
}

void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks) {
  TORCH_CHECK(
      hooks != nullptr, "Calling register_hooks on a saved tensor with empty hooks. Give hooks that pack and unpack.");
  TORCH_CHECK(
      !has_hooks(), "Calling register_hooks on a saved tensor whose hooks have already been set. ",
      "Hint: only one pair of hooks is allowed at a time.");
  if (!data_.defined()) {
    TORCH_CHECK(
        was_default_constructed_,
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
        "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the graph a second time or if you need to access saved variables after calling backward.");
    TORCH_CHECK(false, "Calling register_hooks on a saved tensor with value None is forbidden");
  }
  if (saved_original_) {
    save_metadata(data_);
  }
  pack_with(std::move(hooks), data_);
  saved_original_ = false;
  data_.reset();
}

void SavedVariable::reset_data() {
  if (extra_) {
    extra_->hooks.reset();
    extra_->grad_fn.reset();
    extra_->grad_accumulator.reset();
    extra_->forward_grad.reset();
  }
  data_.reset();
}

bool SavedVariable::has_hooks() const {
  return extra_ && extra_->hooks;
}

std::optional<at::Tensor> SavedVariable::get_raw_data() const {
  return has_hooks() ? std::nullopt : std::optional<at::Tensor>(data_);
}

void SavedVariable::check_not_freed(const Node* saved_for) const {
  TORCH_CHECK(
      data_.defined() || has_hooks(), ERR_BACKWARD_TWICE,
      saved_for ? c10::str(" The freed values belong to ", saved_for->name(), ".") : std::string());
}

void SavedVariable::check_version(const Node* grad_fn) const {
  const uint32_t version = impl::version_counter(data_).current_version();
  if (C10_LIKELY(version == saved_version_)) {
    return;
  }
  const std::shared_ptr<Node> needed_by = get_current_node();
  TORCH_CHECK(
      false, "one of the variables needed for gradient computation has been modified by an inplace operation: [",
      data_.toString(), " ", data_.sizes(), "]",
      grad_fn ? c10::str(
                    ", which is output ", saved_original_ ? data_.output_nr() : int64_t{output_nr_}, " of ",
                    grad_fn->name(), ",")
              : std::string(),
      " is at version ", version, "; expected version ", saved_version_, " instead.",
      needed_by ? c10::str(" It is needed by ", needed_by->name(), ".") : std::string(),
      AnomalyMode::is_enabled()
          ? " Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable "
            "in question was changed in there or anywhere later. Good luck!"
          : " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch::autograd::DetectAnomalyGuard (torch.autograd.set_detect_anomaly(True)).");
}

std::shared_ptr<Node> SavedVariable::grad_fn_of(const std::shared_ptr<Node>& saved_for) const {
  std::shared_ptr<Node> grad_fn;
  if (is_inplace_on_view_) {
    grad_fn = extra_->weak_grad_fn.lock();
  } else if (saved_original_) {
    grad_fn = data_.grad_fn();
  } else if (extra_) {
    grad_fn = extra_->grad_fn;
  }
  if (!grad_fn && !is_leaf_) {
    TORCH_INTERNAL_ASSERT(saved_for, "No grad_fn for non-leaf saved tensor");
    grad_fn = saved_for;
  }
  return grad_fn;
}

Variable SavedVariable::unpack(const std::shared_ptr<Node>& saved_for) const {
  if (was_default_constructed_) {
    return Variable();
  }
  check_not_freed(saved_for.get());
  const bool hooked = has_hooks();
  if (!hooked && saved_original_ && impl::version_counter(data_).current_version() == saved_version_) {
    return data_;
  }
  std::shared_ptr<Node> grad_fn = grad_fn_of(saved_for);
  // What hooks do with the tensor cannot be followed.
  if (!hooked) {
    check_version(grad_fn.get());
  }
  const at::Tensor data = hooked ? unpack_with(*extra_->hooks) : data_;
  const bool is_dual = extra_ && extra_->forward_grad && !extra_->forward_grad->empty();
  if (!grad_fn && !requires_grad_ && !data.requires_grad() && !is_dual) {
    return data;
  }
  // A saved view comes back as an ordinary tensor over the same memory. That is enough, as nothing is changed in place
  // in a backward formula.
  Variable variable =
      grad_fn ? make_variable(data, Edge(std::move(grad_fn), output_nr_)) : make_variable(data, requires_grad_);
  impl::set_version_counter(variable, impl::version_counter(data));
  if (is_leaf_ && requires_grad_) {
    impl::set_grad_accumulator(variable, extra_->grad_accumulator);
  }
  if (is_dual) {
    impl::share_forward_grad(variable, extra_->forward_grad);
  }
  return variable;
}

Variable SavedVariable::unpack(Node& saved_for) const {
  if (was_default_constructed_) {
    return Variable();
  }
  check_not_freed(&saved_for);
  // Without recording, nobody asks for the history of an output: its data will do.
  if (!has_hooks() && (saved_original_ || (!GradMode::is_enabled() && !forward_ad::any_level())) &&
      impl::version_counter(data_).current_version() == saved_version_) {
    return data_;
  }
  return unpack(saved_for.getptr());
}

} // namespace torch::autograd
