#include <csrc/optim/rmsprop.h>

#include <aten/native/cpu/operator_step_lists.h>
#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<RMSpropOptions> {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.alpha(), x.eps(), x.weight_decay(), x.momentum(), x.centered(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<RMSpropParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "square_avg", "momentum_buffer", "grad_avg"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.square_avg(), x.momentum_buffer(), x.grad_avg());
  }
};

template class BuiltinOptions<RMSpropOptions>;
template class BuiltinParamState<RMSpropParamState>;

} // namespace detail

namespace {

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<RMSpropParamState>& lists, const RMSpropOptions& options) {
  for (size_t i = 0; i < lists.size(); ++i) {
    RMSpropParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    const Tensor square = lists.real_view(state.square_avg());
    square.mul_(options.alpha()).addcmul_(grad, grad, 1 - options.alpha());
    Tensor root;
    if (options.centered()) {
      const Tensor average = lists.real_view(state.grad_avg());
      average.mul_(options.alpha()).add_(grad, 1 - options.alpha());
      root = square.addcmul(average, average, -1).sqrt_();
    } else {
      root = square.sqrt();
    }
    root.add_(options.eps());
    if (options.momentum() > 0) {
      const Tensor buffer = lists.real_view(state.momentum_buffer());
      buffer.mul_(options.momentum()).addcdiv_(grad, root);
      param.add_(buffer, -options.lr());
    } else {
      param.addcdiv_(grad, root, -options.lr());
    }
  }
}

} // namespace

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "RMSprop", "lr");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "RMSprop", "eps");
  detail::check_not_negative("Invalid momentum value", defaults.momentum(), "RMSprop", "momentum");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "RMSprop", "weight_decay");
  detail::check_not_negative("Invalid alpha value", defaults.alpha(), "RMSprop", "alpha");
}

RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions defaults)
    : RMSprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> RMSprop::make_state() const {
  return std::make_unique<RMSpropParamState>();
}

Tensor RMSprop::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const RMSpropOptions&>(group.options());
    const auto lists = detail::collect<RMSpropParamState>(
        "RMSprop", group, state_, [&](RMSpropParamState& state, const Tensor& param) {
          state.square_avg(detail::zeros_like_param(param));
          if (options.momentum() > 0) {
            state.momentum_buffer(detail::zeros_like_param(param));
          }
          if (options.centered()) {
            state.grad_avg(detail::zeros_like_param(param));
          }
        });
    if (lists.size() == 0) {
      return;
    }
    for (RMSpropParamState* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto squares = lists.tensors([](RMSpropParamState& s) { return s.square_avg(); });
    const auto averages =
        options.centered() ? lists.tensors([](RMSpropParamState& s) { return s.grad_avg(); }) : std::vector<Tensor>();
    const auto buffers = options.momentum() > 0
        ? lists.tensors([](RMSpropParamState& s) { return s.momentum_buffer(); })
        : std::vector<Tensor>();
    if (lists.by_operators_at_once(options.fused())) {
      return at::native::rmsprop_step_by_operators(
          {lists.params, lists.grads}, squares, averages, buffers,
          {options.lr(), options.alpha(), options.eps(), options.weight_decay(), options.momentum(),
           options.maximize()});
    }
    at::_fused_rmsprop_(
        lists.params, lists.grads, squares, averages, buffers, options.lr(), options.alpha(), options.eps(),
        options.weight_decay(), options.momentum(), options.maximize());
  });
}

} // namespace torch::optim
