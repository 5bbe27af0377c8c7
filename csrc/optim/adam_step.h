// The step of Adam and AdamW, which differ in their weight decay. For their sources.
#pragma once

#include <aten/ops/_fused_adam__ops.h>
#include <aten/ops/_fused_adamw__ops.h>
#include <aten/native/cpu/operator_step_lists.h>
#include <csrc/optim/step_lists.h>

namespace torch::optim::detail {

/// What archives hold of both (Fields).
struct AdamOptionFields {
  static constexpr auto kNames =
      std::to_array<const char*>({"lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "fused"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.lr(), x.betas(), x.eps(), x.weight_decay(), x.amsgrad(), x.maximize(), x.fused());
  }
};
struct AdamStateFields {
  static constexpr bool kNumbersAsTensors = true;
  static constexpr auto kNames = std::to_array<const char*>({"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"});
  template <class T>
  static auto of(T& x) {
    return std::tie(x.step(), x.exp_avg(), x.exp_avg_sq(), x.max_exp_avg_sq());
  }
};

template <class Options>
void check_adam_options(const Options& options, const char* optimizer) {
  check_not_negative("Invalid learning rate", options.lr(), optimizer, "lr");
  check_not_negative("Invalid epsilon value", options.eps(), optimizer, "eps");
  check_betas(options.betas(), optimizer);
  check_not_negative("Invalid weight_decay value", options.weight_decay(), optimizer, "weight_decay");
}

/// Operator by operator, for any device, in libtorch's order.
template <class Options, class State>
void adam_by_operators(const StepLists<State>& lists, const Options& options, bool decoupled) {
  const auto [beta1, beta2] = options.betas();
  for (size_t i = 0; i < lists.size(); ++i) {
    State& state = *lists.states[i];
    const Tensor& param = lists.params[i];
    const Tensor average = lists.real_view(state.exp_avg()), square = lists.real_view(state.exp_avg_sq());
    if (decoupled && options.weight_decay() != 0) {
      param.mul_(1 - options.lr() * options.weight_decay());
    }
    const Tensor grad = penalized(lists.grads[i], param, options.maximize(), decoupled ? 0 : options.weight_decay());
    average.mul_(beta1).add_(grad, 1 - beta1);
    square.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
    Tensor largest = square;
    if (options.amsgrad()) {
      largest = lists.real_view(state.max_exp_avg_sq());
      at::maximum_out(largest, largest, square);
    }
    const auto step = static_cast<double>(state.step());
    const Tensor denominator = largest.sqrt().div_(std::sqrt(1 - std::pow(beta2, step))).add_(options.eps());
    param.addcdiv_(average, denominator, -options.lr() / (1 - std::pow(beta1, step)));
  }
}

template <class Options, class State>
void adam_group(
    const char* optimizer, OptimizerParamGroup& group, Optimizer::State& all, bool decoupled, const Tensor& found_inf) {
  const auto& options = static_cast<const Options&>(group.options());
  const auto lists = collect<State>(optimizer, group, all, [&](State& state, const Tensor& param) {
    state.exp_avg(zeros_like_param(param));
    state.exp_avg_sq(zeros_like_param(param));
    if (options.amsgrad()) {
      state.max_exp_avg_sq(zeros_like_param(param));
    }
  });
  if (lists.size() == 0) {
    return;
  }
  if (!found_inf.defined()) {
    for (State* state : lists.states) {
      state->step(state->step() + 1);
    }
    if (!options.fused().value_or(lists.fused_by_default())) {
      return adam_by_operators(lists, options, decoupled);
    }
  }
  const auto averages = lists.tensors([](State& s) { return s.exp_avg(); });
  const auto squares = lists.tensors([](State& s) { return s.exp_avg_sq(); });
  const auto largest =
      options.amsgrad() ? lists.tensors([](State& s) { return s.max_exp_avg_sq(); }) : std::vector<Tensor>();
  const auto [beta1, beta2] = options.betas();
  if (lists.by_operators_at_once(options.fused())) {
    return at::native::adam_step_by_operators(
        {lists.params, lists.grads}, averages, squares, largest, step_numbers(lists),
        {options.lr(), beta1, beta2, options.weight_decay(), options.eps(), 0, decoupled, options.amsgrad(),
         options.maximize()});
  }
  const auto op = decoupled ? at::_ops::_fused_adamw_::call : at::_ops::_fused_adam_::call;
  const auto run = [&](const std::vector<Tensor>& steps) {
    op(lists.params, lists.grads, averages, squares, largest, steps, options.lr(), beta1, beta2, options.weight_decay(),
       options.eps(), options.amsgrad(), options.maximize(), {}, found_inf);
  };
  if (found_inf.defined()) {
    const StepsOnDevice<State> counted(lists, found_inf);
    run(counted.steps());
    counted.finish();
  } else {
    run(step_tensors(lists));
  }
}

} // namespace torch::optim::detail
