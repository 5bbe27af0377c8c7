#include <csrc/optim/adam.h>

#include <csrc/optim/adam_step.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<AdamOptions> : AdamOptionFields {};
template <>
struct Fields<AdamParamState> : AdamStateFields {};

template class BuiltinOptions<AdamOptions>;
template class BuiltinParamState<AdamParamState>;

} // namespace detail

AdamOptions::AdamOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamOptions>(defaults)) {
  detail::check_adam_options(defaults, "Adam");
}

Adam::Adam(std::vector<Tensor> params, AdamOptions defaults)
    : Adam({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

bool Adam::supports_found_inf() const {
  return detail::steps_on_cuda<AdamOptions>(param_groups_);
}

std::unique_ptr<OptimizerParamState> Adam::make_state() const {
  return std::make_unique<AdamParamState>();
}

Tensor Adam::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    detail::adam_group<AdamOptions, AdamParamState>("Adam", group, state_, /*decoupled=*/false, found_inf_);
  });
}

} // namespace torch::optim
