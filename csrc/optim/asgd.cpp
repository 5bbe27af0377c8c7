#include <csrc/optim/asgd.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<ASGDOptions> {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "lambd", "alpha", "t0", "weight_decay", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.lambd(), x.alpha(), x.t0(), x.weight_decay(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<ASGDParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "eta", "mu", "ax"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.eta(), x.mu(), x.ax());
  }
};

template class BuiltinOptions<ASGDOptions>;
template class BuiltinParamState<ASGDParamState>;

} // namespace detail

namespace {

using ASGDLists = detail::StepLists<ASGDParamState>;

/// Operator by operator, for any device.
void by_operators(const ASGDLists& lists, const ASGDOptions& options) {
  for (size_t i = 0; i < lists.size(); ++i) {
    const ASGDParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    const Tensor average = lists.real_view(state.ax());
    param.mul_(1 - options.lambd() * state.eta()).add_(grad, -state.eta());
    if (state.mu() == 1) {
      average.copy_(param);
    } else {
      average.add_(param.sub(average), state.mu());
    }
  }
}

void step_fused(const ASGDLists& lists, const ASGDOptions& options) {
  std::vector<double> etas, mus;
  for (const ASGDParamState* state : lists.states) {
    etas.push_back(state->eta());
    mus.push_back(state->mu());
  }
  const auto averages = lists.tensors([](ASGDParamState& s) { return s.ax(); });
  at::_fused_asgd_(
      lists.params, lists.grads, averages, etas, mus, options.lambd(), options.weight_decay(), options.maximize());
}

/// Step size and averaging weight of the next step.
void advance(const ASGDLists& lists, const ASGDOptions& options) {
  for (ASGDParamState* state : lists.states) {
    state->step(state->step() + 1);
    const auto step = static_cast<double>(state->step());
    state->eta(options.lr() / std::pow(1 + options.lambd() * options.lr() * step, options.alpha()));
    state->mu(1 / std::max(1.0, step - options.t0()));
  }
}

} // namespace

ASGDOptions::ASGDOptions(double lr) : lr_(lr) {}

ASGD::ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<ASGDOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "ASGD", "lr");
  detail::check_not_negative("Invalid lambd value", defaults.lambd(), "ASGD", "lambd");
  detail::check_not_negative("Invalid alpha value", defaults.alpha(), "ASGD", "alpha");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "ASGD", "weight_decay");
}

ASGD::ASGD(std::vector<Tensor> params, ASGDOptions defaults)
    : ASGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> ASGD::make_state() const {
  return std::make_unique<ASGDParamState>();
}

Tensor ASGD::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const ASGDOptions&>(group.options());
    const auto lists =
        detail::collect<ASGDParamState>("ASGD", group, state_, [&](ASGDParamState& state, const Tensor& param) {
          state.eta(options.lr());
          state.ax(detail::zeros_like_param(param));
        });
    if (lists.size() == 0) {
      return;
    }
    if (options.fused().value_or(lists.fused_by_default())) {
      step_fused(lists, options);
    } else {
      by_operators(lists, options);
    }
    advance(lists, options);
  });
}

} // namespace torch::optim
