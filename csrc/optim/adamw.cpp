#include <csrc/optim/adamw.h>

#include <csrc/optim/adam_step.h>

namespace torch::optim {
namespace detail {

template <>
struct Fields<AdamWOptions> : AdamOptionFields {};
template <>
struct Fields<AdamWParamState> : AdamStateFields {};

template class BuiltinOptions<AdamWOptions>;
template class BuiltinParamState<AdamWParamState>;

} // namespace detail

AdamWOptions::AdamWOptions(double lr) : lr_(lr), betas_(betas_t(0.9, 0.999)) {}

AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamWOptions>(defaults)) {
  detail::check_adam_options(defaults, "AdamW");
}

AdamW::AdamW(std::vector<Tensor> params, AdamWOptions defaults)
    : AdamW({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

bool AdamW::supports_found_inf() const {
  return detail::steps_on_cuda<AdamWOptions>(param_groups_);
}

std::unique_ptr<OptimizerParamState> AdamW::make_state() const {
  return std::make_unique<AdamWParamState>();
}

Tensor AdamW::step(LossClosure closure) {
  return run_step(closure, [&](OptimizerParamGroup& group) {
    detail::adam_group<AdamWOptions, AdamWParamState>("AdamW", group, state_, /*decoupled=*/true, found_inf_);
  });
}

} // namespace torch::optim
