#include <csrc/cuda/graphed.h>

#include <aten/Functions.h>
#include <autograd/autograd.h>
#include <autograd/custom_function.h>
#include <autograd/grad_mode.h>

#include <utility>

namespace torch::cuda::detail {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the recorded work reads and writes. `results` of the backward are the gradients of the leaves, undefined where
/// a leaf has no influence.
struct Graphed {
  std::vector<Tensor> inputs;
  std::vector<Tensor> grad_outputs; // undefined for outputs without gradient
  std::vector<size_t> leaves; // which inputs and parameters, numbered through, want gradients
  WorkRecorder::Recording forward;
  WorkRecorder::Recording backward;
};

/// Writes without a trace in version counters: what autograd saved of a static tensor is meant to change with it.
void overwrite(const Tensor& target, const Tensor& source) {
  if (target.const_data_ptr() != source.const_data_ptr()) {
    target.data().copy_(source);
  }
}

struct GraphedFunction : torch::autograd::Function<GraphedFunction> {
  /// `tensors`: inputs and parameters. The latter are read where they lie.
  static variable_list forward(AutogradContext* ctx, const std::shared_ptr<Graphed>& graphed, at::TensorList tensors) {
    for (size_t i = 0; i < graphed->inputs.size(); ++i) {
      overwrite(graphed->inputs[i], tensors[i]);
    }
    graphed->forward.replay();
    variable_list outputs;
    variable_list without_gradient;
    for (size_t i = 0; i < graphed->forward.results.size(); ++i) {
      outputs.push_back(graphed->forward.results[i].detach());
      if (!graphed->grad_outputs[i].defined()) {
        without_gradient.push_back(outputs.back());
      }
    }
    ctx->mark_non_differentiable(without_gradient);
    ctx->saved_data["graphed"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(graphed));
    ctx->saved_data["tensors"] = static_cast<int64_t>(tensors.size());
    return outputs;
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto capsule = ctx->saved_data["graphed"].toCapsule();
    const Graphed& graphed = *static_cast<const Holder&>(*capsule).graphed;
    TORCH_CHECK(
        !at::GradMode::is_enabled(),
        "make_graphed: the backward of a graphed function is recorded once and cannot be differentiated "
        "(create_graph)");
    for (size_t i = 0; i < grads.size(); ++i) {
      if (graphed.grad_outputs[i].defined()) {
        overwrite(graphed.grad_outputs[i], grads[i]);
      }
    }
    graphed.backward.replay();
    variable_list result(1 + static_cast<size_t>(ctx->saved_data["tensors"].toInt()));
    for (size_t i = 0; i < graphed.leaves.size(); ++i) {
      // A copy: an accumulated gradient may become the tensor that is handed over, and the next replay writes over
      // ours.
      const Tensor& grad = graphed.backward.results[i];
      result[1 + graphed.leaves[i]] = grad.defined() ? grad.detach().clone() : Tensor();
    }
    return result;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Graphed> g) : graphed(std::move(g)) {}
    std::shared_ptr<Graphed> graphed;
  };
};

void check_sample(const std::vector<Tensor>& inputs, const std::vector<Tensor>& parameters) {
  for (const Tensor& input : inputs) {
    TORCH_CHECK(
        input.defined() && (input.is_leaf() || !input.requires_grad()),
        "make_graphed: a sample input must be a defined tensor without history; take input.detach()");
  }
  for (const Tensor& parameter : parameters) {
    TORCH_CHECK(
        parameter.defined() && parameter.is_leaf(),
        "make_graphed: a parameter must be a leaf, got one that an operator made");
  }
}

std::vector<Tensor> of_those_with_gradient(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> chosen;
  for (const Tensor& t : tensors) {
    if (t.defined() && t.requires_grad()) {
      chosen.push_back(t);
    }
  }
  return chosen;
}

variable_list gradients(
    const std::vector<Tensor>& outputs,
    const std::vector<Tensor>& leaves,
    const std::vector<Tensor>& grad_outputs,
    bool retain,
    bool allow_unused) {
  return torch::autograd::grad(outputs, leaves, grad_outputs, retain, /*create_graph=*/false, allow_unused);
}

/// The call of the recorded function.
Graphable replayed(std::shared_ptr<Graphed> graphed, std::vector<Tensor> parameters) {
  return [graphed = std::move(graphed), parameters = std::move(parameters)](const std::vector<Tensor>& inputs) {
    TORCH_CHECK(
        inputs.size() == graphed->inputs.size(), "graphed function: expected ", graphed->inputs.size(),
        " inputs as at its recording, got ", inputs.size());
    std::vector<Tensor> tensors = inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& fixed = graphed->inputs[i];
      TORCH_CHECK(
          inputs[i].defined() && inputs[i].sizes() == fixed.sizes() && inputs[i].scalar_type() == fixed.scalar_type() &&
              inputs[i].device() == fixed.device(),
          "graphed function: input ", i, " must be as at the recording: ", fixed.sizes(), " ", fixed.scalar_type(),
          " on ", fixed.device(), "; record again for others");
      TORCH_CHECK(
          fixed.requires_grad() || !inputs[i].requires_grad() || !at::GradMode::is_enabled(),
          "graphed function: input ", i, " requires a gradient, but its sample did not");
    }
    tensors.insert(tensors.end(), parameters.begin(), parameters.end());
    return GraphedFunction::apply(graphed, at::TensorList(tensors));
  };
}

} // namespace

Graphable make_graphed_by(
    WorkRecorder& recorder,
    const Graphable& function,
    const std::vector<Tensor>& sample_inputs,
    const std::vector<Tensor>& parameters,
    const GraphedOptions& options) {
  check_sample(sample_inputs, parameters);
  auto graphed = std::make_shared<Graphed>();
  std::vector<Tensor> leaves;
  {
    const at::NoGradGuard no_grad;
    for (const Tensor& sample : sample_inputs) {
      graphed->inputs.push_back(sample.detach().clone().set_requires_grad(sample.requires_grad()));
    }
  }
  std::vector<Tensor> all = graphed->inputs;
  all.insert(all.end(), parameters.begin(), parameters.end());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].requires_grad()) {
      leaves.push_back(all[i]);
      graphed->leaves.push_back(i);
    }
  }

  const at::AutoGradMode with_gradients(true);
  const auto run = [&function, inputs = graphed->inputs] { return function(inputs); };
  for (int i = 0; i < options.num_warmup_iters; ++i) {
    recorder.warm_up([&]() -> std::vector<Tensor> {
      const std::vector<Tensor> outputs = of_those_with_gradient(run());
      std::vector<Tensor> ones;
      for (const Tensor& output : outputs) {
        ones.push_back(at::ones_like(output));
      }
      return outputs.empty() || leaves.empty()
          ? outputs
          : gradients(outputs, leaves, ones, /*retain=*/false, options.allow_unused_input);
    });
  }

  // The recorder may call the work again later, so it owns what it needs.
  graphed->forward = recorder.record([function, inputs = graphed->inputs] { return function(inputs); });
  const std::vector<Tensor> outputs = graphed->forward.results;
  for (const Tensor& output : outputs) {
    graphed->grad_outputs.push_back(output.requires_grad() ? at::empty_like(output).fill_(1) : Tensor());
  }
  const std::vector<Tensor> differentiable = of_those_with_gradient(outputs);
  if (!differentiable.empty() && !leaves.empty()) {
    std::vector<Tensor> grad_outputs;
    for (const Tensor& grad : graphed->grad_outputs) {
      if (grad.defined()) {
        grad_outputs.push_back(grad);
      }
    }
    graphed->backward = recorder.record(
        [differentiable, leaves, grad_outputs, retain = recorder.runs_again(), unused = options.allow_unused_input] {
          return gradients(differentiable, leaves, grad_outputs, retain, unused);
        });
  } else {
    graphed->leaves.clear();
    graphed->backward.replay = [] {};
  }
  // The graph of the recording has done its work; only memory is shared with it from here on.
  if (!recorder.runs_again()) {
    for (Tensor& result : graphed->forward.results) {
      result = result.detach();
    }
  }
  return replayed(std::move(graphed), parameters);
}

} // namespace torch::cuda::detail
