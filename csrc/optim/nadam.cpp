#include <csrc/optim/nadam.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<NAdamOptions> {
  static constexpr auto kNames = std::to_array<const char*>(
      {"lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(
        x.lr(), x.betas(), x.eps(), x.weight_decay(), x.momentum_decay(), x.decoupled_weight_decay(), x.maximize(),
        x.fused());
  }
};
template <>
struct Fields<NAdamParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "mu_product", "exp_avg", "exp_avg_sq"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.mu_product(), x.exp_avg(), x.exp_avg_sq());
  }
};

template class BuiltinOptions<NAdamOptions>;
template class BuiltinParamState<NAdamParamState>;

} // namespace detail

namespace {

/// The momentum of a step, which grows towards beta1.
double momentum(const NAdamOptions& options, int64_t step) {
  const double decay = std::pow(0.96, static_cast<double>(step) * options.momentum_decay());
  return std::get<0>(options.betas()) * (1 - 0.5 * decay);
}

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<NAdamParamState>& lists, const NAdamOptions& options) {
  const auto [beta1, beta2] = options.betas();
  const bool decoupled = options.decoupled_weight_decay();
  for (size_t i = 0; i < lists.size(); ++i) {
    NAdamParamState& state = *lists.states[i];
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
    const Tensor denominator = square.div(1 - std::pow(beta2, step)).sqrt_().add_(options.eps());
    const double mu = momentum(options, state.step()), mu_next = momentum(options, state.step() + 1);
    param.addcdiv_(grad, denominator, -options.lr() * (1 - mu) / (1 - state.mu_product()));
    param.addcdiv_(average, denominator, -options.lr() * mu_next / (1 - state.mu_product() * mu_next));
  }
}

} // namespace

NAdamOptions::NAdamOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

NAdam::NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<NAdamOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "NAdam", "lr");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "NAdam", "eps");
  detail::check_betas(defaults.betas(), "NAdam");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "NAdam", "weight_decay");
  detail::check_not_negative("Invalid momentum_decay value", defaults.momentum_decay(), "NAdam", "momentum_decay");
}

NAdam::NAdam(std::vector<Tensor> params, NAdamOptions defaults)
    : NAdam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> NAdam::make_state() const {
  return std::make_unique<NAdamParamState>();
}

Tensor NAdam::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const NAdamOptions&>(group.options());
    const auto lists =
        detail::collect<NAdamParamState>("NAdam", group, state_, [](NAdamParamState& state, const Tensor& param) {
          state.exp_avg(detail::zeros_like_param(param));
          state.exp_avg_sq(detail::zeros_like_param(param));
        });
    if (lists.size() == 0) {
      return;
    }
    std::vector<double> products;
    for (NAdamParamState* state : lists.states) {
      state->step(state->step() + 1);
      state->mu_product(state->mu_product() * momentum(options, state->step()));
      products.push_back(state->mu_product());
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto averages = lists.tensors([](NAdamParamState& s) { return s.exp_avg(); });
    const auto squares = lists.tensors([](NAdamParamState& s) { return s.exp_avg_sq(); });
    const auto [beta1, beta2] = options.betas();
    at::_fused_nadam_(
        lists.params, lists.grads, averages, squares, products, detail::step_numbers(lists), options.lr(), beta1, beta2,
        options.weight_decay(), options.momentum_decay(), options.eps(), options.decoupled_weight_decay(),
        options.maximize());
  });
}

} // namespace torch::optim
