// What the steps of optimizers have in common. For the sources of optimizers.
#pragma once

#include <aten/Functions.h>
#include <csrc/optim/fields.h>
#include <csrc/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace torch::optim::detail {

// ---- checks of options
// -----------------------------------------------------------------------------------------------------

/// `phrase` is PyTorch's, such as "Invalid learning rate".
inline void check_not_negative(const char* phrase, double value, const char* optimizer, const char* option) {
  TORCH_CHECK_VALUE(value >= 0, phrase, ": ", value, " (", optimizer, " needs ", option, " >= 0)");
}

inline void check_betas(const std::tuple<double, double>& betas, const char* optimizer) {
  const auto check = [&](int index, double beta) {
    TORCH_CHECK_VALUE(
        beta >= 0 && beta < 1, "Invalid beta parameter at index ", index, ": ", beta, " (", optimizer,
        " needs betas in [0, 1))");
  };
  check(0, std::get<0>(betas));
  check(1, std::get<1>(betas));
}

inline void check_positive(const char* phrase, double value, const char* optimizer, const char* option) {
  TORCH_CHECK_VALUE(value > 0, phrase, ": ", value, " (", optimizer, " needs ", option, " > 0)");
}

// ---- the parameters of a step
// ------------------------------------------------------------------------------------------------

/// Parameters of a group that have a gradient, with it and their state. Complex ones as pairs of reals.
template <class State>
struct StepLists {
  /// A parameter whose gradient has coordinates; such parameters are in none of the lists.
  struct Sparse {
    Tensor param, grad;
    State* state;
  };

  std::vector<Tensor> params, grads;
  std::vector<State*> states;
  std::vector<Tensor> originals; // parameters as they are
  std::vector<Sparse> sparse;

  size_t size() const {
    return params.size();
  }

  /// Whether one call steps all of them, unless the options say otherwise: where it has a kernel, which on the CPU it
  /// always has.
  bool fused_by_default() const {
    if (params.empty()) {
      return true;
    }
    const at::Device device = params[0].device();
    if (!device.is_cpu() && !device.is_cuda()) {
      return false;
    }
    for (const Tensor& param : params) {
      if (param.device() != device || (device.is_cuda() && !param.is_floating_point())) {
        return false;
      }
    }
    return true;
  }

  /// Whether the step is made in one pass with the values of operators: on the CPU, unless the options say otherwise.
  bool by_operators_at_once(std::optional<bool> fused) const {
    return !fused.has_value() && params[0].is_cpu() && fused_by_default();
  }

  /// A tensor of each state.
  template <class Get>
  std::vector<Tensor> tensors(const Get& get) const {
    std::vector<Tensor> result;
    result.reserve(states.size());
    for (State* state : states) {
      result.push_back(real_view(get(*state)));
    }
    return result;
  }

  static Tensor real_view(const Tensor& t) {
    return t.defined() && t.is_complex() ? at::view_as_real(t) : t;
  }
};

/// A gradient of another precision in its parameter's: mixed-precision programs set such ones.
inline Tensor in_precision_of(const Tensor& param, const Tensor& grad) {
  const bool differs =
      grad.scalar_type() != param.scalar_type() && grad.is_floating_point() && param.is_floating_point();
  return differs ? grad.to(param.scalar_type()) : grad;
}

enum class SparseGradients { refused, taken };
enum class States { kept, none };

/// Collects them; `init(state, param)` fills the state of a parameter that steps for the first time. Without `states`
/// the step needs none: pointers to them are null.
template <class State, class Init>
StepLists<State> collect(
    const char* optimizer,
    OptimizerParamGroup& group,
    Optimizer::State& state,
    const Init& init,
    SparseGradients sparse = SparseGradients::refused,
    States states = States::kept) {
  StepLists<State> lists;
  const size_t count = group.params().size();
  lists.params.reserve(count);
  lists.grads.reserve(count);
  lists.states.reserve(count);
  lists.originals.reserve(count);
  for (const Tensor& param : group.params()) {
    const Tensor& grad = param.grad();
    if (!grad.defined()) {
      continue;
    }
    const bool takes =
        grad.layout() == at::kStrided || (grad.layout() == at::kSparse && sparse == SparseGradients::taken);
    TORCH_CHECK(
        takes, optimizer, " does not support sparse gradients", ": got a gradient of layout ", grad.layout(),
        "; SparseAdam, SGD and Adagrad take coordinates (layout Sparse)");
    State* current = nullptr;
    if (states == States::kept) {
      std::unique_ptr<OptimizerParamState>& slot = state[param.unsafeGetTensorImpl()];
      if (!slot) {
        auto fresh = std::make_unique<State>();
        init(*fresh, param);
        slot = std::move(fresh);
      }
      current = static_cast<State*>(slot.get());
    }
    if (grad.layout() == at::kSparse) {
      lists.sparse.push_back({param, grad, current});
      continue;
    }
    lists.states.push_back(current);
    lists.originals.push_back(param);
    lists.params.push_back(StepLists<State>::real_view(param));
    lists.grads.push_back(StepLists<State>::real_view(in_precision_of(param, grad)));
  }
  return lists;
}

/// One tensor for the number of a step, shared by all parameters that are at it, as fused operators take them.
template <class State>
std::vector<Tensor> step_tensors(const StepLists<State>& lists) {
  std::vector<Tensor> result;
  result.reserve(lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    const int64_t step = lists.states[i]->step();
    const bool repeated = i > 0 && lists.states[i - 1]->step() == step;
    result.push_back(repeated ? result.back() : at::scalar_tensor(static_cast<double>(step), at::kDouble));
  }
  return result;
}

/// Whether all parameters with gradients are stepped by fused operators on one CUDA device, unless the options say
/// otherwise. These look at found_inf there.
template <class Options>
bool steps_on_cuda(const std::vector<OptimizerParamGroup>& groups) {
  std::optional<at::Device> device;
  for (const OptimizerParamGroup& group : groups) {
    if (!static_cast<const Options&>(group.options()).fused().value_or(true)) {
      return false;
    }
    for (const Tensor& param : group.params()) {
      const Tensor& grad = param.grad();
      if (!grad.defined()) {
        continue;
      }
      if (!param.is_cuda() || !param.is_floating_point() || grad.layout() != at::kStrided) {
        return false;
      }
      if (device.value_or(param.device()) != param.device()) {
        return false;
      }
      device = param.device();
    }
  }
  return device.has_value();
}

/// The steps that a fused operator takes on a device: counted there, unless gradients are not finite.
template <class State>
class StepsOnDevice {
 public:
  StepsOnDevice(const StepLists<State>& lists, const Tensor& found_inf) : found_inf_(lists.size(), found_inf) {
    steps_.reserve(lists.size());
    for (State* state : lists.states) {
      steps_.push_back(state->step_on_device(found_inf.device()));
    }
    at::_foreach_add_(steps_, 1);
  }
  const std::vector<Tensor>& steps() const {
    return steps_;
  }
  /// After the operator: takes back what was counted for a step that was skipped.
  void finish() const {
    at::_foreach_sub_(steps_, found_inf_);
  }

 private:
  std::vector<Tensor> steps_, found_inf_;
};

template <class State>
std::vector<int64_t> step_numbers(const StepLists<State>& lists) {
  std::vector<int64_t> result;
  result.reserve(lists.size());
  for (const State* state : lists.states) {
    result.push_back(state->step());
  }
  return result;
}

/// Other values at the places of `like`, which is coalesced.
inline Tensor at_places_of(const Tensor& like, const Tensor& values) {
  return at::_sparse_coo_tensor_unsafe(
      like._indices(), values, like.sizes(), values.options().layout(at::kSparse), true);
}

/// The rows of `dense` at the places of `mask`, which is coalesced: a copy.
inline Tensor values_at(const Tensor& dense, const Tensor& mask) {
  return dense.sparse_mask(mask)._values();
}

inline Tensor zeros_like_param(const Tensor& param) {
  return at::zeros_like(param, {}, at::MemoryFormat::Preserve);
}

/// The gradient that the formulas start from: of what is minimized, with the penalty's.
inline Tensor penalized(const Tensor& grad, const Tensor& param, bool maximize, double weight_decay) {
  const Tensor g = maximize ? grad.neg() : grad;
  return weight_decay != 0 ? g.add(param, weight_decay) : g;
}

} // namespace torch::optim::detail
