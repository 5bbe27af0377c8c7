// What recorded functions do to gradients: backward() and steps of optimizers inside.
#include <csrc/capture/recorder.h>

#include <csrc/fx/effects.h>
#include <autograd/variable.h>

#include <algorithm>
#include <utility>

namespace torch::capture {

void Recorder::record_training(const std::vector<at::Tensor>& leaves) {
  records_training_ = true;
  for (const at::Tensor& leaf : leaves) {
    watch(leaf);
  }
}

void Recorder::watch(const at::Tensor& leaf) {
  const bool is_watched =
      std::any_of(leaves_.begin(), leaves_.end(), [&](const Leaf& other) { return other.tensor.is_same(leaf); });
  if (!is_watched) {
    const at::Tensor grad = leaf.grad();
    leaves_.push_back({leaf, grad, grad, static_cast<uint32_t>(leaf._version())});
  }
}

void Recorder::add_leaf(const at::Tensor& tensor, const HistoryBefore& before) {
  if (before.history == functionalize::History::Leaf) {
    watch(tensor);
  }
}

void Recorder::set_grad_mode_of_start() {
  if (grad_mode_ != grad_mode_at_start_) {
    grad_mode_ = grad_mode_at_start_;
    graph_->call_function("set_grad_enabled", {grad_mode_at_start_}, 0);
  }
}

void Recorder::begin_step(size_t number) {
  is_in_step_ = true;
  for (Leaf& leaf : leaves_) {
    leaf.version_at_step = static_cast<uint32_t>(leaf.tensor._version());
  }
  if (!refused_.empty()) {
    return;
  }
  training_.has_backward = true;
  set_grad_mode_of_start();
  std::vector<fx::Arg> args{static_cast<int64_t>(number)};
  training_.stops.push_back(stop_here(args));
  training_.stops.back().optimizer = number;
  graph_->call_function("optimizer_step", std::move(args), 0);
}

void Recorder::end_step() {
  is_in_step_ = false;
  for (Leaf& leaf : leaves_) {
    leaf.written_by_steps += static_cast<uint32_t>(leaf.tensor._version()) - leaf.version_at_step;
  }
}

/// What became of gradients since the graph stopped last. New ones are added to the arguments.
TrainingStep::Stop Recorder::stop_here(std::vector<fx::Arg>& args) {
  TrainingStep::Stop stop;
  for (Leaf& leaf : leaves_) {
    const auto is_known = [&](const at::Tensor& grad) {
      return grad.defined() && known_.count(grad.unsafeGetTensorImpl()) != 0;
    };
    if (is_known(leaf.grad_before) && !std::exchange(leaf.is_taken, true)) {
      training_.taken.emplace_back(leaf.tensor, leaf.grad_before);
    }
    const at::Tensor now = leaf.tensor.grad();
    if (now.is_same(leaf.grad)) {
      continue;
    }
    leaf.grad = now;
    if (!now.defined()) {
      stop.resets.push_back(leaf.tensor);
    } else if (!is_known(now) && !find_memory(now)) {
      refuse("a gradient is made by no operator");
    } else {
      stop.grads.push_back({leaf.tensor, args.size()});
      args.push_back(value_of(now));
    }
  }
  return stop;
}

/// The gradients that backward passes left in the end, as results behind the others.
void Recorder::finish_training(std::vector<fx::Arg>& results) {
  if (!training_.has_backward) {
    return;
  }
  training_.stops.push_back(stop_here(results));
  for (const Leaf& leaf : leaves_) {
    if (!autograd::impl::hooks(leaf.tensor).empty() || autograd::impl::post_acc_grad_hooks(leaf.tensor)) {
      refuse("there is a hook on the gradient of a tensor that backward() in it gives one");
    }
  }
}

/// What is written to parameters is written by operators, or by the steps of optimizers that were named.
void Recorder::check_training() {
  if (!training_.has_backward) {
    return;
  }
  const fx::AliasSets aliases(*graph_);
  for (const Leaf& leaf : leaves_) {
    const auto known = known_.find(leaf.tensor.unsafeGetTensorImpl());
    if (known == known_.end()) {
      continue;
    }
    const fx::Node* const node = known->second.value.node;
    const uint32_t version = leaf.version_before + leaf.written_by_steps;
    if (!aliases.is_written(node) && static_cast<uint32_t>(leaf.tensor._version()) != version) {
      refuse(
          "%" + node->name() +
          " is written to, and by no operator: name the optimizer whose step that is in "
          "CompileOptions::optimizers");
    }
  }
}

} // namespace torch::capture
