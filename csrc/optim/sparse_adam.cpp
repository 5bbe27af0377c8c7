#include <csrc/optim/sparse_adam.h>

#include <csrc/optim/step_lists.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<SparseAdamOptions> {
  static constexpr auto kNames = std::to_array<const char*>({"lr", "betas", "eps", "maximize"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.betas(), x.eps(), x.maximize());
  }
};
template <>
struct Fields<SparseAdamParamState> {
  static constexpr bool kNumbersAsTensors = false;
  static constexpr auto kNames = std::to_array<const char*>({"step", "exp_avg", "exp_avg_sq"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.exp_avg(), x.exp_avg_sq());
  }
};

template class BuiltinOptions<SparseAdamOptions>;
template class BuiltinParamState<SparseAdamParamState>;

} // namespace detail

namespace {

/// average += (1 - beta) * (values - average) at the places of `grad`; gives the new averages there.
Tensor average_at(const Tensor& average, const Tensor& grad, const Tensor& values, double beta) {
  const Tensor before = detail::values_at(average, grad);
  const Tensor change = values.sub(before).mul_(1 - beta);
  average.add_(detail::at_places_of(grad, change));
  return before.add_(change);
}

void step_one(const detail::StepLists<SparseAdamParamState>::Sparse& one, const SparseAdamOptions& options) {
  SparseAdamParamState& state = *one.state;
  state.step(state.step() + 1);
  const Tensor grad =
      (options.maximize() ? one.grad.neg() : one.grad).coalesce(); // squares of sums, not sums of squares
  const Tensor values = grad._values();
  if (values.numel() == 0) {
    return;
  }
  const auto [beta1, beta2] = options.betas();
  const Tensor average = average_at(state.exp_avg(), grad, values, beta1);
  const Tensor square = average_at(state.exp_avg_sq(), grad, values.square(), beta2);
  const auto step = static_cast<double>(state.step());
  const double length = options.lr() * std::sqrt(1 - std::pow(beta2, step)) / (1 - std::pow(beta1, step));
  one.param.add_(detail::at_places_of(grad, average.div_(square.sqrt().add_(options.eps())).mul_(-length)));
}

void check_params(const std::vector<OptimizerParamGroup>& groups) {
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].params().size(); ++i) {
      const Tensor& param = groups[g].params()[i];
      TORCH_CHECK_VALUE(
          param.layout() == at::kStrided, "Sparse params at indices [[", g, ", ", i,
          "]]: SparseAdam requires dense parameter tensors");
      TORCH_CHECK_VALUE(
          !param.is_complex(), "Complex params at indices [[", g, ", ", i,
          "]]: SparseAdam does not support complex parameters");
    }
  }
}

} // namespace

SparseAdamOptions::SparseAdamOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

SparseAdam::SparseAdam(const std::vector<OptimizerParamGroup>& param_groups, SparseAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<SparseAdamOptions>(defaults)) {
  detail::check_positive("Invalid learning rate", defaults.lr(), "SparseAdam", "lr");
  detail::check_positive("Invalid epsilon value", defaults.eps(), "SparseAdam", "eps");
  detail::check_betas(defaults.betas(), "SparseAdam");
  check_params(param_groups_);
}

SparseAdam::SparseAdam(std::vector<Tensor> params, SparseAdamOptions defaults)
    : SparseAdam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> SparseAdam::make_state() const {
  return std::make_unique<SparseAdamParamState>();
}

Tensor SparseAdam::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    for (const Tensor& param : group.params()) {
      TORCH_CHECK(
          !param.grad().defined() || param.grad().layout() == at::kSparse,
          "SparseAdam does not support dense gradients, please consider Adam instead: got one of layout ",
          param.grad().layout());
    }
    const auto lists = detail::collect<SparseAdamParamState>(
        "SparseAdam", group, state_,
        [](SparseAdamParamState& state, const Tensor& param) {
          state.exp_avg(detail::zeros_like_param(param));
          state.exp_avg_sq(detail::zeros_like_param(param));
        },
        detail::SparseGradients::taken);
    const auto& options = static_cast<const SparseAdamOptions&>(group.options());
    for (const auto& one : lists.sparse) {
      step_one(one, options);
    }
  });
}

} // namespace torch::optim
