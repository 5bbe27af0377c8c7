#include <csrc/optim/rprop.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<RpropOptions> {
  static constexpr auto kNames = std::to_array<const char*>({"lr", "etas", "step_sizes", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.etas(), x.step_sizes(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<RpropParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "prev", "step_size"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.prev(), x.step_size());
  }
};

template class BuiltinOptions<RpropOptions>;
template class BuiltinParamState<RpropParamState>;

} // namespace detail

namespace {

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<RpropParamState>& lists, const RpropOptions& options) {
  const auto [eta_minus, eta_plus] = options.etas();
  const auto [smallest, largest] = options.step_sizes();
  for (size_t i = 0; i < lists.size(); ++i) {
    RpropParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = options.maximize() ? lists.grads[i].neg() : lists.grads[i];
    const Tensor before = lists.real_view(state.prev()), size = lists.real_view(state.step_size());
    const Tensor turn = grad.mul(before).sign();
    const auto same = [&](double number) { return at::full({}, number, size.options()); };
    size.mul_(at::where(turn.gt(0), same(eta_plus), at::where(turn.lt(0), same(eta_minus), same(1))))
        .clamp_(smallest, largest);
    before.copy_(at::where(turn.lt(0), 0, grad));
    param.addcmul_(before.sign(), size, -1);
  }
}

} // namespace

RpropOptions::RpropOptions(double lr) : lr_(lr), etas_(pair_t(0.5, 1.2)), step_sizes_(pair_t(1e-6, 50.0)) {}

Rprop::Rprop(const std::vector<OptimizerParamGroup>& param_groups, RpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RpropOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "Rprop", "lr");
  const auto [minus, plus] = defaults.etas();
  TORCH_CHECK_VALUE(
      0 < minus && minus < 1 && 1 < plus, "Invalid eta values: ", minus, ", ", plus,
      " (Rprop needs 0 < etas[0] < 1 < etas[1])");
}

Rprop::Rprop(std::vector<Tensor> params, RpropOptions defaults)
    : Rprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> Rprop::make_state() const {
  return std::make_unique<RpropParamState>();
}

Tensor Rprop::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const RpropOptions&>(group.options());
    const auto lists =
        detail::collect<RpropParamState>("Rprop", group, state_, [&](RpropParamState& state, const Tensor& param) {
          state.prev(detail::zeros_like_param(param));
          state.step_size(detail::zeros_like_param(param));
          // Both parts of a complex parameter have a step size.
          detail::StepLists<RpropParamState>::real_view(state.step_size()).fill_(options.lr());
        });
    if (lists.size() == 0) {
      return;
    }
    for (RpropParamState* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return by_operators(lists, options);
    }
    const auto before = lists.tensors([](RpropParamState& s) { return s.prev(); });
    const auto sizes = lists.tensors([](RpropParamState& s) { return s.step_size(); });
    const auto [eta_minus, eta_plus] = options.etas();
    const auto [smallest, largest] = options.step_sizes();
    at::_fused_rprop_(
        lists.params, lists.grads, before, sizes, eta_minus, eta_plus, smallest, largest, options.maximize());
  });
}

} // namespace torch::optim
