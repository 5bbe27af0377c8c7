// What recorded functions do to gradients: backward() and steps of optimizers inside.
#include <csrc/capture/recorder.h>

#include <csrc/fx/effects.h>
#include <autograd/variable.h>

namespace torch::capture {

void Recorder::add_leaf(const at::Tensor& tensor, const HistoryBefore& before) {
  if (before.history == functionalize::History::Leaf) {
    leaves_.push_back({tensor, tensor.grad(), at::Tensor(), static_cast<uint32_t>(tensor._version())});
  }
}

void Recorder::begin_step(size_t number) {
  if (steps_.empty()) {
    first_id_after_step_ = graph_->num_ids();
    for (Leaf& leaf : leaves_) {
      leaf.grad_at_step = leaf.tensor.grad();
    }
  }
  steps_.push_back(number);
  is_in_step_ = true;
}

void Recorder::end_step() {
  is_in_step_ = false;
}

/// The gradients that backward passes left, as results behind the others.
void Recorder::add_training(std::vector<fx::Arg>& values, TrainingStep& training) {
  training.has_backward = has_backward_ || !steps_.empty();
  training.steps = steps_;
  if (!training.has_backward) {
    return;
  }
  for (const Leaf& leaf : leaves_) {
    const at::Tensor now = leaf.tensor.grad();
    const at::Tensor& made = steps_.empty() ? now : leaf.grad_at_step;
    const bool is_new = made.defined() && !made.is_same(leaf.grad_before);
    if (is_new && known_.count(made.unsafeGetTensorImpl()) == 0 && !find_memory(made)) {
      refuse("a gradient is made by no operator");
    } else if (is_new) {
      training.grads.push_back({leaf.tensor, values.size()});
      values.push_back(value_of(made));
    } else if (made.defined() && known_.count(made.unsafeGetTensorImpl()) != 0) {
      training.taken.emplace_back(leaf.tensor, made);
    }
    if (!now.defined() && (made.defined() || leaf.grad_before.defined())) {
      training.resets.push_back(leaf.tensor);
    } else if (!steps_.empty() && now.defined() && !now.is_same(made)) {
      refuse("gradients are made after the step of an optimizer");
    }
    if (!autograd::impl::hooks(leaf.tensor).empty() || autograd::impl::post_acc_grad_hooks(leaf.tensor)) {
      refuse("there is a hook on the gradient of a tensor that backward() in it gives one");
    }
  }
}

/// What is written to parameters is written by operators, or by the steps at the end.
void Recorder::check_training(const TrainingStep& training) {
  if (!training.has_backward) {
    return;
  }
  const fx::AliasSets aliases(*graph_);
  std::vector<const fx::Node*> leaf_nodes;
  for (const Leaf& leaf : leaves_) {
    const fx::Node* const node = known_.at(leaf.tensor.unsafeGetTensorImpl()).value.node;
    leaf_nodes.push_back(node);
    if (steps_.empty() && !aliases.is_written(node) &&
        static_cast<uint32_t>(leaf.tensor._version()) != leaf.version_before) {
      refuse(
          "%" + node->name() +
          " is written to, and by no operator: name the optimizer whose step that is in "
          "CompileOptions::optimizers");
    }
  }
  for (const auto& grad : training.grads) {
    leaf_nodes.push_back(graph_->output_node()->arg(grad.result).value().node);
  }
  for (const fx::Node* node : graph_->nodes()) {
    if (steps_.empty() || node->id() < first_id_after_step_ || !node->is_operator()) {
      continue;
    }
    for (const fx::Node* input : node->all_input_nodes()) {
      for (const fx::Node* leaf : leaf_nodes) {
        if (aliases.may_alias(input, leaf)) {
          refuse(node->target() + " behind the step of an optimizer takes what the step changes");
        }
      }
    }
  }
}

} // namespace torch::capture
