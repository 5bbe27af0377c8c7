#include <csrc/optim/sgd.h>

#include <aten/native/cpu/operator_step_lists.h>
#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<SGDOptions> {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.momentum(), x.dampening(), x.weight_decay(), x.nesterov(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<SGDParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"momentum_buffer"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.momentum_buffer());
  }
};

template class BuiltinOptions<SGDOptions>;
template class BuiltinParamState<SGDParamState>;

} // namespace detail

namespace {

using SGDLists = detail::StepLists<SGDParamState>;

/// Gives a parameter whose momentum begins its buffer. It becomes the gradient of this step, without dampening.
bool begins(SGDParamState& state, const Tensor& param) {
  if (state.momentum_buffer().defined()) {
    return false;
  }
  state.momentum_buffer(detail::zeros_like_param(param));
  return true;
}

/// Operator by operator, for any device.
void by_operators(const SGDLists& lists, const std::vector<bool>& first, const SGDOptions& options) {
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensor& param = lists.params[i];
    Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    if (options.momentum() != 0) {
      const Tensor buffer = lists.real_view(lists.states[i]->momentum_buffer());
      if (first[i]) {
        buffer.copy_(grad);
      } else {
        buffer.mul_(options.momentum()).add_(grad, 1 - options.dampening());
      }
      grad = options.nesterov() ? grad.add(buffer, options.momentum()) : buffer;
    }
    param.add_(grad, -options.lr());
  }
}

/// A gradient of a few rows changes those of the parameter; momentum, whose buffer is dense, goes on in all rows.
void step_sparse(const SGDLists& lists, const SGDOptions& options) {
  TORCH_CHECK(
      lists.sparse.empty() || options.weight_decay() == 0,
      "SGD: weight_decay option is not compatible with sparse gradients: it is ", options.weight_decay(),
      " and must be 0 in groups that have them");
  for (const auto& [param, given, state] : lists.sparse) {
    const Tensor grad = options.maximize() ? given.neg() : given;
    if (options.momentum() == 0) {
      param.add_(grad, -options.lr());
      continue;
    }
    if (begins(*state, param)) {
      state->momentum_buffer().add_(grad);
    } else {
      state->momentum_buffer().mul_(options.momentum()).add_(grad, 1 - options.dampening());
    }
    param.add_(state->momentum_buffer(), options.nesterov() ? -options.lr() * options.momentum() : -options.lr());
    if (options.nesterov()) {
      param.add_(grad, -options.lr());
    }
  }
}

/// One call for the parameters whose momentum begins (`which`), or for the others.
void step_fused(
    const SGDLists& lists,
    const std::vector<bool>& first,
    bool which,
    const SGDOptions& options,
    const Tensor& found_inf) {
  std::vector<Tensor> params, grads, buffers;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (first[i] != which) {
      continue;
    }
    params.push_back(lists.params[i]);
    grads.push_back(lists.grads[i]);
    if (options.momentum() != 0) {
      buffers.push_back(lists.real_view(lists.states[i]->momentum_buffer()));
    }
  }
  if (params.empty()) {
    return;
  }
  if (lists.by_operators_at_once(options.fused())) {
    return at::native::sgd_step_by_operators(
        {params, grads}, buffers,
        {options.lr(), options.momentum(), options.dampening(), options.weight_decay(), options.nesterov(),
         options.maximize(), which});
  }
  at::_fused_sgd_(
      params, grads, buffers, options.weight_decay(), options.momentum(), options.lr(), options.dampening(),
      options.nesterov(), options.maximize(), which, {}, found_inf);
}

} // namespace

SGDOptions::SGDOptions(double lr) : lr_(lr) {}

SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "SGD", "lr");
  detail::check_not_negative("Invalid momentum value", defaults.momentum(), "SGD", "momentum");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "SGD", "weight_decay");
  TORCH_CHECK_VALUE(
      !defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
      "Nesterov momentum requires a momentum and zero dampening: got momentum ", defaults.momentum(), " and dampening ",
      defaults.dampening());
}

SGD::SGD(std::vector<Tensor> params, SGDOptions defaults)
    : SGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

bool SGD::supports_found_inf() const {
  return detail::steps_on_cuda<SGDOptions>(param_groups_);
}

std::unique_ptr<OptimizerParamState> SGD::make_state() const {
  return std::make_unique<SGDParamState>();
}

Tensor SGD::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const SGDOptions&>(group.options());
    const auto lists = detail::collect<SGDParamState>(
        "SGD", group, state_, [](SGDParamState&, const Tensor&) {}, detail::SparseGradients::taken,
        options.momentum() == 0 ? detail::States::none : detail::States::kept);
    step_sparse(lists, options);
    if (lists.size() == 0) {
      return;
    }
    std::vector<bool> first(lists.size());
    for (size_t i = 0; options.momentum() != 0 && i < lists.size(); ++i) {
      first[i] = begins(*lists.states[i], lists.originals[i]);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, first, options);
    }
    step_fused(lists, first, true, options, found_inf_);
    step_fused(lists, first, false, options, found_inf_);
  });
}

} // namespace torch::optim
