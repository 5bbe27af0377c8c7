#include <csrc/optim/radam.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<RAdamOptions> {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.betas(), x.eps(), x.weight_decay(), x.decoupled_weight_decay(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<RAdamParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "exp_avg", "exp_avg_sq"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.exp_avg(), x.exp_avg_sq());
  }
};

template class BuiltinOptions<RAdamOptions>;
template class BuiltinParamState<RAdamParamState>;

} // namespace detail

namespace {

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<RAdamParamState>& lists, const RAdamOptions& options) {
  const auto [beta1, beta2] = options.betas();
  const bool decoupled = options.decoupled_weight_decay();
  const double rho_inf = 2 / (1 - beta2) - 1;
  for (size_t i = 0; i < lists.size(); ++i) {
    RAdamParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    if (decoupled && options.weight_decay() != 0) {
      param.mul_(1 - options.lr() * options.weight_decay());
    }
    const Tensor grad =
        detail::penalized(lists.grads[i], param, options.maximize(), decoupled ? 0 : options.weight_decay());
    const Tensor average = lists.real_view(state.exp_avg()), square = lists.real_view(state.exp_avg_sq());
    average.lerp_(grad, 1 - beta1);
    square.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
    const auto step = static_cast<double>(state.step());
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
    // Length of the average that is approximated; below 5 its variance is not known.
    const double rho = rho_inf - 2 * step * (1 - correction2) / correction2;
    if (rho > 5) {
      const double rectify = std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
      const double size = options.lr() / correction1 * rectify * std::sqrt(correction2);
      param.addcdiv_(average, square.sqrt().add_(options.eps()), -size);
    } else {
      param.add_(average, -options.lr() / correction1);
    }
  }
}

} // namespace

RAdamOptions::RAdamOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

RAdam::RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<RAdamOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "RAdam", "lr");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "RAdam", "eps");
  detail::check_betas(defaults.betas(), "RAdam");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "RAdam", "weight_decay");
}

RAdam::RAdam(std::vector<Tensor> params, RAdamOptions defaults)
    : RAdam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> RAdam::make_state() const {
  return std::make_unique<RAdamParamState>();
}

Tensor RAdam::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const RAdamOptions&>(group.options());
    const auto lists =
        detail::collect<RAdamParamState>("RAdam", group, state_, [](RAdamParamState& state, const Tensor& param) {
          state.exp_avg(detail::zeros_like_param(param));
          state.exp_avg_sq(detail::zeros_like_param(param));
        });
    if (lists.size() == 0) {
      return;
    }
    for (RAdamParamState* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto averages = lists.tensors([](RAdamParamState& s) { return s.exp_avg(); });
    const auto squares = lists.tensors([](RAdamParamState& s) { return s.exp_avg_sq(); });
    const auto [beta1, beta2] = options.betas();
    at::_fused_radam_(
        lists.params, lists.grads, averages, squares, detail::step_numbers(lists), options.lr(), beta1, beta2,
        options.weight_decay(), options.eps(), options.decoupled_weight_decay(), options.maximize());
  });
}

} // namespace torch::optim
