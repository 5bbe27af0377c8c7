#include <csrc/nn/Module.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/hook_lists.h>
#include <csrc/nn/hooks.h>

#include <aten/ops/detach.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

template class c10::Indirect<std::vector<at::Tensor*>>;

namespace torch::nn {

namespace detail {

ModuleHooks::ModuleHooks(const ModuleHooks& other)
    : lists_(other.lists_ ? std::make_shared<HookLists>(*other.lists_) : std::shared_ptr<HookLists>()) {}

ModuleHooks& ModuleHooks::operator=(const ModuleHooks& other) {
  if (this != &other) {
    lists_ = other.lists_ ? std::make_shared<HookLists>(*other.lists_) : std::shared_ptr<HookLists>();
  }
  return *this;
}

bool ModuleHooks::empty() const noexcept {
  return lists_ == nullptr || lists_->empty();
}

const c10::SharedOf<HookLists>& ModuleHooks::lists() {
  if (!lists_) {
    lists_ = std::make_shared<HookLists>();
  }
  return lists_;
}

bool has_hooks(const Module& module) {
  return !module.hooks_.empty();
}

// What the gradients of one call have to share: those of the outputs arrive first, in one go, then those of the inputs.
struct HookedCall::BackwardState {
  Module* module;
  std::shared_ptr<Module> keep_alive; // null for a module that is not kept in a shared_ptr
  std::shared_ptr<HookLists> lists;
  std::vector<at::Tensor> grad_outputs;
  size_t num_inputs = 0;
  bool inputs_need_grad = false;

  std::vector<at::Tensor> run(std::vector<at::Tensor> grad_inputs) {
    const HookList<BackwardHook> hooks = lists->backward; // a hook may remove itself
    for (const auto& [id, hook] : hooks) {
      const size_t count = grad_inputs.size();
      hook(*module, grad_inputs, grad_outputs);
      TORCH_CHECK(
          grad_inputs.size() == count, "full backward hook of ", module->name(), ": it left ", grad_inputs.size(),
          " gradients of inputs, but there are ", count);
    }
    grad_outputs.clear();
    return grad_inputs;
  }
};

namespace {

// Passes tensors on and gives their gradients to `callback` on the way back.
struct GradientTap : public torch::autograd::Node {
  using Callback = std::function<std::vector<at::Tensor>(std::vector<at::Tensor>)>;
  Callback callback;
  std::string name() const override {
    return "ModuleHookBackward";
  }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    return callback(std::move(grads));
  }
};

// Puts a tap between the tensors that require grad and who uses them; `positions` are those tensors.
void tap(
    const std::vector<at::Tensor*>& tensors, const std::vector<size_t>& positions, GradientTap::Callback callback) {
  torch::autograd::edge_list edges;
  for (const size_t position : positions) {
    edges.push_back(torch::autograd::impl::gradient_edge(*tensors[position]));
  }
  const auto node = std::make_shared<GradientTap>();
  node->callback = std::move(callback);
  node->set_next_edges(std::move(edges));
  for (const size_t position : positions) {
    at::Tensor& tensor = *tensors[position];
    tensor = tensor.detach();
    torch::autograd::impl::set_gradient_edge(tensor, {node, node->add_input_metadata(tensor)});
  }
}

std::vector<size_t> positions_that_require_grad(const std::vector<at::Tensor*>& tensors) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->defined() && tensors[i]->requires_grad()) {
      positions.push_back(i);
    }
  }
  return positions;
}

std::vector<at::Tensor> spread(std::vector<at::Tensor>&& grads, const std::vector<size_t>& positions, size_t count) {
  std::vector<at::Tensor> all(count);
  for (size_t i = 0; i < positions.size(); ++i) {
    all[positions[i]] = std::move(grads[i]);
  }
  return all;
}

std::vector<at::Tensor> values_of(const std::vector<at::Tensor*>& tensors) {
  std::vector<at::Tensor> values;
  values.reserve(tensors.size());
  for (const at::Tensor* tensor : tensors) {
    values.push_back(*tensor);
  }
  return values;
}

void store(
    const char* kind, Module& module, const std::vector<at::Tensor*>& tensors, std::vector<at::Tensor>&& values) {
  TORCH_CHECK(
      values.size() == tensors.size(), kind, " of ", module.name(), ": it left ", values.size(),
      " tensors, but there are ", tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    *tensors[i] = std::move(values[i]);
  }
}

} // namespace

void TensorPointers::add(at::Tensor& tensor) {
  pointers_->push_back(&tensor);
}

const std::vector<at::Tensor*>& TensorPointers::get() const noexcept {
  return pointers_.get();
}

HookedCall::HookedCall(Module& module, const TensorPointers& input_pointers)
    : module_(module), lists_(module.hooks_.lists()) {
  const std::vector<at::Tensor*>& inputs = input_pointers.get();
  for (const auto& computed : lists_->computed) {
    computed->renew(module_);
  }
  if (!lists_->forward_pre.empty()) {
    std::vector<at::Tensor> values = values_of(inputs);
    const HookList<ForwardPreHook> hooks = lists_->forward_pre;
    for (const auto& [id, hook] : hooks) {
      hook(module_, values);
    }
    store("forward pre-hook", module_, inputs, std::move(values));
  }
  if (!lists_->backward.empty() && c10::GradMode::is_enabled()) {
    backward_ = std::make_shared<BackwardState>();
    backward_->module = &module_;
    backward_->keep_alive = module_.weak_from_this().lock();
    backward_->lists = lists_.shared();
    backward_->num_inputs = inputs.size();
    const std::vector<size_t> positions = positions_that_require_grad(inputs);
    if (!positions.empty()) {
      backward_->inputs_need_grad = true;
      tap(inputs, positions, [state = backward_, positions](std::vector<at::Tensor> grads) {
        std::vector<at::Tensor> all = state->run(spread(std::move(grads), positions, state->num_inputs));
        std::vector<at::Tensor> wanted;
        for (const size_t position : positions) {
          wanted.push_back(all[position]);
        }
        return wanted;
      });
    }
  }
  inputs_ = values_of(inputs);
}

void HookedCall::finish(const TensorPointers& output_pointers) {
  const std::vector<at::Tensor*>& outputs = output_pointers.get();
  if (backward_) {
    const std::vector<size_t> positions = positions_that_require_grad(outputs);
    if (!positions.empty()) {
      tap(outputs, positions, [state = backward_, positions, count = outputs.size()](std::vector<at::Tensor> grads) {
        state->grad_outputs = spread(std::vector<at::Tensor>(grads), positions, count);
        if (!state->inputs_need_grad) {
          state->run(std::vector<at::Tensor>(state->num_inputs));
        }
        return grads;
      });
    }
  }
  if (!lists_->forward.empty()) {
    std::vector<at::Tensor> values = values_of(outputs);
    const HookList<ForwardHook> hooks = lists_->forward;
    for (const auto& [id, hook] : hooks) {
      hook(module_, inputs_, values);
    }
    store("forward hook", module_, outputs, std::move(values));
  }
}

} // namespace detail

RemovableHandle::RemovableHandle(const std::shared_ptr<detail::HookLists>& lists, int64_t id)
    : lists_(lists), id_(id) {}

void RemovableHandle::remove() {
  if (const auto lists = std::static_pointer_cast<detail::HookLists>(lists_.lock())) {
    lists->remove(id_);
  }
}

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  const auto& lists = hooks_.lists();
  lists->forward_pre.emplace_back(lists->next_id, std::move(hook));
  return RemovableHandle(lists.shared(), lists->next_id++);
}

RemovableHandle Module::register_forward_hook(ForwardHook hook) {
  const auto& lists = hooks_.lists();
  lists->forward.emplace_back(lists->next_id, std::move(hook));
  return RemovableHandle(lists.shared(), lists->next_id++);
}

RemovableHandle Module::register_full_backward_hook(BackwardHook hook) {
  const auto& lists = hooks_.lists();
  lists->backward.emplace_back(lists->next_id, std::move(hook));
  return RemovableHandle(lists.shared(), lists->next_id++);
}

} // namespace torch::nn
