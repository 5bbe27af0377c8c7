#include <csrc/optim/adadelta.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<AdadeltaOptions> {
  static constexpr auto kNames = std::to_array<const char*>({"lr", "rho", "eps", "weight_decay", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.rho(), x.eps(), x.weight_decay(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<AdadeltaParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "square_avg", "acc_delta"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.square_avg(), x.acc_delta());
  }
};

template class BuiltinOptions<AdadeltaOptions>;
template class BuiltinParamState<AdadeltaParamState>;

} // namespace detail

namespace {

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<AdadeltaParamState>& lists, const AdadeltaOptions& options) {
  for (size_t i = 0; i < lists.size(); ++i) {
    AdadeltaParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    const Tensor square = lists.real_view(state.square_avg()), change = lists.real_view(state.acc_delta());
    square.mul_(options.rho()).addcmul_(grad, grad, 1 - options.rho());
    const Tensor delta = change.add(options.eps()).sqrt_().div_(square.add(options.eps()).sqrt_()).mul_(grad);
    change.mul_(options.rho()).addcmul_(delta, delta, 1 - options.rho());
    param.add_(delta, -options.lr());
  }
}

} // namespace

AdadeltaOptions::AdadeltaOptions(double lr) : lr_(lr) {}

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdadeltaOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "Adadelta", "lr");
  TORCH_CHECK_VALUE(
      defaults.rho() >= 0 && defaults.rho() <= 1, "Invalid rho value: ", defaults.rho(),
      " (Adadelta needs rho in [0, 1])");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "Adadelta", "eps");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "Adadelta", "weight_decay");
}

Adadelta::Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults)
    : Adadelta({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> Adadelta::make_state() const {
  return std::make_unique<AdadeltaParamState>();
}

Tensor Adadelta::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const AdadeltaOptions&>(group.options());
    const auto lists = detail::collect<AdadeltaParamState>(
        "Adadelta", group, state_, [](AdadeltaParamState& state, const Tensor& param) {
          state.square_avg(detail::zeros_like_param(param));
          state.acc_delta(detail::zeros_like_param(param));
        });
    if (lists.size() == 0) {
      return;
    }
    for (AdadeltaParamState* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto squares = lists.tensors([](AdadeltaParamState& s) { return s.square_avg(); });
    const auto deltas = lists.tensors([](AdadeltaParamState& s) { return s.acc_delta(); });
    at::_fused_adadelta_(
        lists.params, lists.grads, squares, deltas, options.lr(), options.rho(), options.eps(), options.weight_decay(),
        options.maximize());
  });
}

} // namespace torch::optim
