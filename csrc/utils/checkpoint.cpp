#include <csrc/utils/checkpoint.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/parallel/ThreadLocalState.h>
#include <autograd/autograd.h>
#include <autograd/custom_function.h>
#include <autograd/engine.h>
#include <autograd/grad_mode.h>
#include <autograd/graph_task.h>
#include <autograd/saved_variable.h>
#include <autograd/saved_variable_hooks.h>
#include <c10/util/StringUtil.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace torch::utils {

namespace {

using autograd::AutoGradMode;
using autograd::SavedVariable;
using autograd::SavedVariableHooks;
using autograd::Variable;
using autograd::variable_list;

// ---- running the function again ------------------------------------------------------------------------------------

// The states of the generators that a function may draw from: the CPU's, and those of the devices of its inputs.
class RandomStates {
 public:
  explicit RandomStates(const variable_list& inputs) {
    add(at::Device(at::kCPU));
    for (const Variable& input : inputs) {
      if (input.defined() && input.is_cuda()) {
        add(input.device());
      }
    }
  }

  void set() const {
    for (const auto& [device, state] : states_) {
      at::Generator generator = at::globalContext().defaultGenerator(device);
      const std::lock_guard<std::mutex> lock(generator.mutex());
      generator.set_state(state);
    }
  }

 private:
  void add(at::Device device) {
    for (const auto& known : states_) {
      if (known.first == device) {
        return;
      }
    }
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    states_.emplace_back(device, generator.get_state());
  }

  std::vector<std::pair<at::Device, at::Tensor>> states_;
};

// What a function saw when it ran first, to be seen by it when it runs again.
class Surroundings {
 public:
  Surroundings(const variable_list& inputs, bool preserve_rng_state) {
    if (preserve_rng_state) {
      random_.emplace(inputs);
    }
  }

  // Runs `f` recorded, as the first time, and leaves this thread and the generators as they were.
  template <class F>
  auto run(const variable_list& inputs, F f) const {
    struct Restore {
      explicit Restore(std::optional<RandomStates> states_) : states(std::move(states_)) {}
      ~Restore() {
        if (states) {
          states->set();
        }
      }
      const std::optional<RandomStates> states;
    };
    const Restore restore(random_ ? std::make_optional<RandomStates>(inputs) : std::nullopt);
    if (random_) {
      random_->set();
    }
    const at::ThreadLocalStateGuard thread(thread_);
    const AutoGradMode record(true);
    return f();
  }

 private:
  std::optional<RandomStates> random_;
  const at::ThreadLocalState thread_;
};

// ---- not re-entrant ------------------------------------------------------------------------------------------------

// Note [Checkpoints by saved-tensor hooks]
// While the function runs first, hooks take each tensor that a node keeps and keep a number in its place: it was the
// n-th of this checkpoint. When a backward pass asks for one, the function runs again under hooks that catch the
// tensors by their numbers; the nodes that it makes this time are let go. The inputs are saved variables made outside
// of the hooks, so in-place changes of them are noticed, and a checkpoint around this one replaces them by numbers of
// its own: nested ones work without knowing of each other. Each pass catches for itself, and hands out each tensor
// once: memory is free as soon as its node has run. A tensor that is asked for again is computed again.
class Frame : public std::enable_shared_from_this<Frame> {
 public:
  Frame(CheckpointFunction function, const variable_list& inputs, const CheckpointOptions& options)
      : function_(std::move(function)), options_(options), surroundings_(inputs, options.preserve_rng_state) {
    for (const Variable& input : inputs) {
      inputs_.emplace_back(input, /*is_output=*/false);
    }
  }

  variable_list run_first(const variable_list& inputs);

  // For the hooks of the first run: the number of this tensor.
  size_t enter(const at::Tensor& tensor) {
    kept_.push_back({tensor.toString(), tensor.sizes().vec(), tensor.device()});
    return kept_.size() - 1;
  }

  at::Tensor get(size_t number);

 private:
  // What is known of a tensor that was not kept.
  struct Kept {
    bool operator==(const Kept& other) const {
      return type == other.type && sizes == other.sizes && device == other.device;
    }
    std::string type;
    std::vector<int64_t> sizes;
    at::Device device;
  };
  struct Recomputed {
    variable_list tensors;
    size_t missing = 0;
  };
  // Thrown by the hooks of a second run that has made all that is needed.
  struct StopRecompute {};
  class Catch;

  Recomputed recompute();
  void check_matches(const std::vector<Kept>& second) const;

  const CheckpointFunction function_;
  const CheckpointOptions options_;
  const Surroundings surroundings_;
  std::vector<SavedVariable> inputs_;
  std::vector<Kept> kept_;

  // Recursive, since the function may run a backward pass that comes back here.
  std::recursive_mutex mutex_;
  std::map<int64_t, Recomputed> of_passes_;
};

// In the place of a tensor that a node would keep.
class NumberHooks final : public SavedVariableHooks {
 public:
  explicit NumberHooks(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}
  void call_pack_hook(const at::Tensor& tensor) override {
    number_ = frame_->enter(tensor);
  }
  at::Tensor call_unpack_hook() override {
    return frame_->get(number_);
  }

 private:
  const std::shared_ptr<Frame> frame_;
  size_t number_ = 0;
};

// Catches tensors in a second run. The node keeps the tensor too, in case that the function itself runs backward.
class Frame::Catch final : public SavedVariableHooks {
 public:
  Catch(variable_list& caught, std::vector<Kept>& kept, size_t enough)
      : caught_(caught), kept_(kept), enough_(enough) {}
  void call_pack_hook(const at::Tensor& tensor) override {
    tensor_ = tensor;
    caught_.push_back(tensor);
    kept_.push_back({tensor.toString(), tensor.sizes().vec(), tensor.device()});
    if (caught_.size() == enough_) {
      throw StopRecompute();
    }
  }
  at::Tensor call_unpack_hook() override {
    return tensor_;
  }

 private:
  variable_list& caught_;
  std::vector<Kept>& kept_;
  const size_t enough_;
  at::Tensor tensor_;
};

variable_list Frame::run_first(const variable_list& inputs) {
  const autograd::SavedTensorHooksGuard hooks([frame = shared_from_this()]() -> std::unique_ptr<SavedVariableHooks> {
    return std::make_unique<NumberHooks>(frame);
  });
  return function_(inputs);
}

Frame::Recomputed Frame::recompute() {
  variable_list inputs;
  for (const SavedVariable& input : inputs_) {
    inputs.push_back(input.unpack());
  }
  variable_list caught;
  std::vector<Kept> second;
  const size_t enough = options_.early_stop ? kept_.size() : SIZE_MAX;
  try {
    surroundings_.run(inputs, [&] {
      const autograd::SavedTensorHooksGuard hooks(
          [&]() -> std::unique_ptr<SavedVariableHooks> { return std::make_unique<Catch>(caught, second, enough); });
      function_(inputs);
    });
  } catch (const StopRecompute&) {
  }
  check_matches(second);
  const size_t count = caught.size();
  return {std::move(caught), count};
}

void Frame::check_matches(const std::vector<Kept>& second) const {
  TORCH_CHECK(
      second.size() == kept_.size(),
      "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
      "Number of tensors saved during forward: ",
      kept_.size(), "\nNumber of tensors saved during recomputation: ", second.size(),
      "\nThe function must do the same each time it runs.");
  if (!options_.determinism_check) {
    return;
  }
  for (size_t i = 0; i < kept_.size(); ++i) {
    TORCH_CHECK(
        kept_[i] == second[i],
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
        "forward pass.\ntensor at position ",
        i, ":\nsaved metadata: ", kept_[i].type, " ", at::IntArrayRef(kept_[i].sizes), " on ", kept_[i].device,
        "\nrecomputed metadata: ", second[i].type, " ", at::IntArrayRef(second[i].sizes), " on ", second[i].device);
  }
}

at::Tensor Frame::get(size_t number) {
  const std::lock_guard<std::recursive_mutex> lock(mutex_);
  const int64_t pass = autograd::get_current_graph_task_id();
  if (pass < 0) {
    return recompute().tensors[number];
  }
  const bool known = of_passes_.count(pass) != 0;
  Recomputed& recomputed = of_passes_[pass];
  if (!known) {
    // What the pass does not ask for is let go at its end.
    autograd::queue_final_callback([weak = weak_from_this(), pass] {
      if (const std::shared_ptr<Frame> frame = weak.lock()) {
        const std::lock_guard<std::recursive_mutex> frame_lock(frame->mutex_);
        frame->of_passes_.erase(pass);
      }
    });
  }
  if (recomputed.missing == 0 || !recomputed.tensors[number].defined()) {
    recomputed = recompute();
  }
  --recomputed.missing;
  return std::exchange(recomputed.tensors[number], at::Tensor());
}

// ---- re-entrant ----------------------------------------------------------------------------------------------------

struct CheckpointNode final : autograd::CustomNode {
  CheckpointNode(CheckpointFunction function_, const variable_list& inputs, bool preserve_rng_state)
      : function(std::move(function_)), surroundings(inputs, preserve_rng_state) {}

  std::string name() const override {
    return "CheckpointFunctionBackward";
  }

  const CheckpointFunction function;
  const Surroundings surroundings;

 protected:
  variable_list call_backward(variable_list grads) override;
};

variable_list CheckpointNode::call_backward(variable_list grads) {
  TORCH_CHECK(
      autograd::Engine::get_default_engine().is_checkpoint_valid(),
      "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
      "to "
      ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
      "the `inputs` argument.");
  variable_list inputs = ctx_.get_saved_variables();
  for (Variable& input : inputs) {
    if (input.defined()) {
      input = input.detach().requires_grad_(input.requires_grad());
    }
  }
  const variable_list outputs = surroundings.run(inputs, [&] { return function(inputs); });
  TORCH_CHECK(
      outputs.size() == grads.size(), "torch.utils.checkpoint: the function returned ", grads.size(),
      " tensors the first time and ", outputs.size(), " the second time");
  variable_list roots;
  variable_list weights;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined() && outputs[i].requires_grad()) {
      roots.push_back(outputs[i]);
      weights.push_back(grads[i]);
    }
  }
  TORCH_CHECK(!roots.empty(), "none of output has requires_grad=True, this checkpoint() is not necessary");
  autograd::backward(roots, weights);
  variable_list result;
  for (const Variable& input : inputs) {
    result.push_back(input.defined() ? input.grad() : Variable());
  }
  return result;
}

variable_list checkpoint_reentrant(CheckpointFunction function, const variable_list& inputs, bool preserve_rng_state) {
  if (!autograd::any_variable_requires_grad(inputs)) {
    TORCH_WARN("None of the inputs have requires_grad=True. Gradients will be None");
  }
  const auto node = autograd::make_node<CheckpointNode>(std::move(function), inputs, preserve_rng_state);
  const bool recorded = node->begin(inputs, autograd::VariableFlags(inputs.size(), 1));
  variable_list outputs;
  {
    const AutoGradMode no_grad(false);
    node->ctx_.save_for_backward(inputs);
    outputs = node->function(inputs);
  }
  return node->finish(inputs, std::move(outputs), recorded);
}

} // namespace

variable_list checkpoint(CheckpointFunction function, const variable_list& inputs, const CheckpointOptions& options) {
  if (!autograd::GradMode::is_enabled()) {
    return function(inputs);
  }
  if (options.use_reentrant) {
    return checkpoint_reentrant(std::move(function), inputs, options.preserve_rng_state);
  }
  return std::make_shared<Frame>(std::move(function), inputs, options)->run_first(inputs);
}

at::Tensor checkpoint(CheckpointFunctionOfTensor function, const at::Tensor& input, const CheckpointOptions& options) {
  CheckpointFunction with_list = [function = std::move(function)](const variable_list& inputs) {
    return variable_list{function(inputs[0])};
  };
  return checkpoint(std::move(with_list), variable_list{input}, options)[0];
}

at::Tensor checkpoint_sequential(
    const std::vector<CheckpointFunctionOfTensor>& functions,
    int64_t segments,
    const at::Tensor& input,
    const CheckpointOptions& options) {
  const auto count = static_cast<int64_t>(functions.size());
  TORCH_CHECK_VALUE(
      segments >= 1 && segments <= count, "checkpoint_sequential: segments is ", segments, " for ", count,
      " functions; it must be at least 1 and not more than these");
  const auto apply = [&functions](int64_t begin, int64_t end) {
    const std::vector<CheckpointFunctionOfTensor> part(functions.begin() + begin, functions.begin() + end);
    return [part](const at::Tensor& x) {
      at::Tensor y = x;
      for (const CheckpointFunctionOfTensor& function : part) {
        y = function(y);
      }
      return y;
    };
  };
  const int64_t length = count / segments;
  at::Tensor x = input;
  int64_t begin = 0;
  for (int64_t i = 0; i + 1 < segments; ++i, begin += length) {
    x = checkpoint(CheckpointFunctionOfTensor(apply(begin, begin + length)), x, options);
  }
  // What follows at once in the backward pass gains nothing from being computed again.
  return apply(begin, count)(x);
}

} // namespace torch::utils
