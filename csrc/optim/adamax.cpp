#include <csrc/optim/adamax.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<AdamaxOptions> {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "betas", "eps", "weight_decay", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.betas(), x.eps(), x.weight_decay(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<AdamaxParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "exp_avg", "exp_inf"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.exp_avg(), x.exp_inf());
  }
};

template class BuiltinOptions<AdamaxOptions>;
template class BuiltinParamState<AdamaxParamState>;

} // namespace detail

namespace {

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<AdamaxParamState>& lists, const AdamaxOptions& options) {
  const auto [beta1, beta2] = options.betas();
  for (size_t i = 0; i < lists.size(); ++i) {
    AdamaxParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    const Tensor average = lists.real_view(state.exp_avg()), largest = lists.real_view(state.exp_inf());
    average.lerp_(grad, 1 - beta1);
    largest.copy_(at::maximum(largest.mul_(beta2), grad.abs().add_(options.eps())));
    param.addcdiv_(average, largest, -options.lr() / (1 - std::pow(beta1, static_cast<double>(state.step()))));
  }
}

} // namespace

AdamaxOptions::AdamaxOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

Adamax::Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamaxOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "Adamax", "lr");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "Adamax", "eps");
  detail::check_betas(defaults.betas(), "Adamax");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "Adamax", "weight_decay");
}

Adamax::Adamax(std::vector<Tensor> params, AdamaxOptions defaults)
    : Adamax({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> Adamax::make_state() const {
  return std::make_unique<AdamaxParamState>();
}

Tensor Adamax::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const AdamaxOptions&>(group.options());
    const auto lists =
        detail::collect<AdamaxParamState>("Adamax", group, state_, [](AdamaxParamState& state, const Tensor& param) {
          state.exp_avg(detail::zeros_like_param(param));
          state.exp_inf(detail::zeros_like_param(param));
        });
    if (lists.size() == 0) {
      return;
    }
    for (AdamaxParamState* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto averages = lists.tensors([](AdamaxParamState& s) { return s.exp_avg(); });
    const auto largest = lists.tensors([](AdamaxParamState& s) { return s.exp_inf(); });
    const auto [beta1, beta2] = options.betas();
    at::_fused_adamax_(
        lists.params, lists.grads, averages, largest, detail::step_numbers(lists), options.lr(), beta1, beta2,
        options.weight_decay(), options.eps(), options.maximize());
  });
}

} // namespace torch::optim
