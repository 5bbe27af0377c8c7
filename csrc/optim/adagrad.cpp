#include <csrc/optim/adagrad.h>

#include <c10/core/GradMode.h>

#include <aten/native/cpu/operator_step_lists.h>
#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<AdagradOptions> {
  static constexpr auto kNames = std::to_array<const char*>(
      {"lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(
        x.lr(), x.lr_decay(), x.weight_decay(), x.initial_accumulator_value(), x.eps(), x.maximize(), x.fused());
  }
};
template <>
struct Fields<AdagradParamState> {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"sum", "step"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.sum(), x.step());
  }
};

template class BuiltinOptions<AdagradOptions>;
template class BuiltinParamState<AdagradParamState>;

} // namespace detail

namespace {

/// The state of a parameter that was not there before. A complex one starts with the value in both of its parts.
void begin(AdagradParamState& state, const Tensor& param, const OptimizerParamGroup& group) {
  const double value = static_cast<const AdagradOptions&>(group.options()).initial_accumulator_value();
  const c10::NoGradGuard no_grad;
  state.sum(at::zeros_like(param, {}, at::MemoryFormat::Preserve));
  detail::StepLists<AdagradParamState>::real_view(state.sum()).fill_(value);
}

/// Operator by operator, for any device.
void by_operators(const detail::StepLists<AdagradParamState>& lists, const AdagradOptions& options) {
  for (size_t i = 0; i < lists.size(); ++i) {
    AdagradParamState& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor grad = detail::penalized(lists.grads[i], param, options.maximize(), options.weight_decay());
    const Tensor sum = lists.real_view(state.sum());
    sum.addcmul_(grad, grad);
    const double lr = options.lr() / (1 + static_cast<double>(state.step() - 1) * options.lr_decay());
    param.addcdiv_(grad, sum.sqrt().add_(options.eps()), -lr);
  }
}

/// The rows that a gradient has, one by one: the sum of a row grows only when the row has a gradient.
void step_sparse(const detail::StepLists<AdagradParamState>& lists, const AdagradOptions& options) {
  TORCH_CHECK(
      lists.sparse.empty() || options.weight_decay() == 0,
      "Adagrad: weight_decay option is not compatible with sparse gradients: it is ", options.weight_decay(),
      " and must be 0 in groups that have them");
  for (const auto& [param, grad, state] : lists.sparse) {
    TORCH_CHECK(!param.is_complex(), "Adagrad: a sparse gradient must be real, got one of dtype ", grad.scalar_type());
  }
  for (const auto& [param, given, state] : lists.sparse) {
    state->step(state->step() + 1);
    const Tensor grad =
        (options.maximize() ? given.neg() : given).coalesce(); // the squares of sums, not sums of squares
    state->sum().add_(detail::at_places_of(grad, grad._values().square()));
    const Tensor deviation = detail::values_at(state->sum(), grad).sqrt_().add_(options.eps());
    const double lr = options.lr() / (1 + static_cast<double>(state->step() - 1) * options.lr_decay());
    param.add_(detail::at_places_of(grad, grad._values().div(deviation)), -lr);
  }
}

} // namespace

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdagradOptions>(defaults)) {
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "Adagrad", "lr");
  detail::check_not_negative("Invalid lr_decay value", defaults.lr_decay(), "Adagrad", "lr_decay");
  detail::check_not_negative("Invalid weight_decay value", defaults.weight_decay(), "Adagrad", "weight_decay");
  detail::check_not_negative(
      "Invalid initial_accumulator_value value", defaults.initial_accumulator_value(), "Adagrad",
      "initial_accumulator_value");
  detail::check_not_negative("Invalid epsilon value", defaults.eps(), "Adagrad", "eps");
  for (OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params()) {
      auto state = std::make_unique<AdagradParamState>();
      begin(*state, param, group);
      state_[param.unsafeGetTensorImpl()] = std::move(state);
    }
  }
}

Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Adagrad({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

bool Adagrad::supports_found_inf() const {
  return detail::steps_on_cuda<AdagradOptions>(param_groups_);
}

std::unique_ptr<OptimizerParamState> Adagrad::make_state() const {
  return std::make_unique<AdagradParamState>();
}

Tensor Adagrad::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    const auto& options = static_cast<const AdagradOptions&>(group.options());
    const auto lists = detail::collect<AdagradParamState>(
        "Adagrad", group, state_, [&](AdagradParamState& state, const Tensor& param) { begin(state, param, group); },
        detail::SparseGradients::taken);
    step_sparse(lists, options);
    if (lists.size() == 0) {
      return;
    }
    if (!found_inf_.defined()) {
      for (AdagradParamState* state : lists.states) {
        state->step(state->step() + 1);
      }
      if (!options.fused().value_or(lists.fused_by_default())) {
        return by_operators(lists, options);
      }
    }
    const auto sums = lists.tensors([](AdagradParamState& s) { return s.sum(); });
    if (lists.by_operators_at_once(options.fused())) {
      return at::native::adagrad_step_by_operators(
          {lists.params, lists.grads}, sums, detail::step_numbers(lists),
          {options.lr(), options.lr_decay(), options.weight_decay(), options.eps(), 0, options.maximize()});
    }
    const auto run = [&](const std::vector<Tensor>& steps) {
      at::_fused_adagrad_(
          lists.params, lists.grads, sums, steps, options.lr(), options.lr_decay(), options.weight_decay(),
          options.eps(), options.maximize(), {}, found_inf_);
    };
    if (found_inf_.defined()) {
      const detail::StepsOnDevice<AdagradParamState> counted(lists, found_inf_);
      run(counted.steps());
      counted.finish();
    } else {
      run(detail::step_tensors(lists));
    }
  });
}

} // namespace torch::optim
