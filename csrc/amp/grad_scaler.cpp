#include <csrc/amp/grad_scaler.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/optim/schedulers/scheduler_state.h>

namespace torch::amp {

using optim::Optimizer;

GradScaler::GradScaler(GradScalerOptions options) : options_(std::move(options)), start_scale_(options_.init_scale()) {
  set_growth_factor(options_.growth_factor());
  set_backoff_factor(options_.backoff_factor());
}

void GradScaler::set_growth_factor(double factor) {
  TORCH_CHECK_VALUE(factor > 1, "The growth factor must be > 1.0. (GradScaler got ", factor, ")");
  options_.growth_factor(factor);
}

void GradScaler::set_backoff_factor(double factor) {
  TORCH_CHECK_VALUE(factor < 1, "The backoff factor must be < 1.0. (GradScaler got ", factor, ")");
  options_.backoff_factor(factor);
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!is_enabled()) {
    return outputs;
  }
  if (!scale_.defined()) {
    scale_ = at::full({}, start_scale_, at::TensorOptions(at::kFloat).device(outputs.device()));
    growth_tracker_ = at::full({}, start_tracker_, at::TensorOptions(at::kInt).device(outputs.device()));
  }
  return outputs.mul(scale_.to(outputs.device()));
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> result;
  for (const Tensor& output : outputs) {
    result.push_back(scale(output));
  }
  return result;
}

GradScaler::PerOptimizer& GradScaler::state_of(const Optimizer& optimizer) {
  for (PerOptimizer& state : *optimizers_) {
    if (state.optimizer == &optimizer) {
      return state;
    }
  }
  return optimizers_->emplace_back(PerOptimizer{&optimizer});
}

void GradScaler::check_scale(const char* function) const {
  TORCH_CHECK(
      scale_.defined(), "Attempted ", function,
      " but _scale is None. This may indicate your script did not use scaler.scale(loss or outputs) earlier in the "
      "iteration.");
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!is_enabled()) {
    return;
  }
  check_scale("unscale_");
  PerOptimizer& state = state_of(optimizer);
  TORCH_CHECK(
      state.stage != Stage::Unscaled, "unscale_() has already been called on this optimizer since the last update().");
  TORCH_CHECK(state.stage != Stage::Stepped, "unscale_() is being called after step().");
  const c10::NoGradGuard no_grad;
  // In double: the reciprocal of a large scale is exact for powers of two.
  const Tensor inv_scale = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  std::vector<std::vector<Tensor>> grads; // of each device
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params()) {
      const Tensor& grad = param.grad();
      if (!grad.defined()) {
        continue;
      }
      TORCH_CHECK_VALUE(
          grad.scalar_type() != at::kHalf, "Attempting to unscale FP16 gradients.",
          " Keep the parameters in float32 and let autocast choose half precision");
      size_t place = 0;
      while (place < grads.size() && grads[place][0].device() != grad.device()) {
        ++place;
      }
      if (place == grads.size()) {
        grads.emplace_back();
      }
      grads[place].push_back(grad);
    }
  }
  std::vector<Tensor> found;
  for (const auto& list : grads) {
    const at::TensorOptions place = at::TensorOptions(at::kFloat).device(list[0].device());
    Tensor found_inf = at::zeros({}, place);
    at::_amp_foreach_non_finite_check_and_unscale_(list, found_inf, inv_scale.to(list[0].device()));
    found.push_back(std::move(found_inf));
  }
  state.found_inf = std::move(found);
  state.stage = Stage::Unscaled;
}

bool GradScaler::step(Optimizer& optimizer) {
  if (!is_enabled()) {
    optimizer.step();
    return true;
  }
  check_scale("step");
  TORCH_CHECK(state_of(optimizer).stage != Stage::Stepped, "step() has already been called since the last update().");
  if (state_of(optimizer).stage == Stage::Ready) {
    unscale_(optimizer);
  }
  TORCH_CHECK(!state_of(optimizer).found_inf.empty(), "No inf checks were recorded for this optimizer.");
  if (const auto& found = state_of(optimizer).found_inf; found.size() == 1 && optimizer.supports_found_inf()) {
    optimizer.found_inf_ = found[0];
    struct Reset {
      Optimizer& of;
      ~Reset() {
        of.found_inf_.reset();
      }
    } const reset{optimizer};
    optimizer.step();
    state_of(optimizer).stage = Stage::Stepped;
    return true;
  }
  bool finite = true;
  for (const Tensor& found_inf : state_of(optimizer).found_inf) {
    finite = finite && found_inf.item<float>() == 0;
  }
  if (finite) {
    optimizer.step();
  }
  state_of(optimizer).stage = Stage::Stepped;
  return finite;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!is_enabled()) {
    return;
  }
  check_scale("update");
  if (new_scale.has_value()) {
    scale_.fill_(*new_scale);
  } else {
    Tensor found = at::zeros({}, scale_.options());
    bool any = false;
    for (const PerOptimizer& state : *optimizers_) {
      for (const Tensor& found_inf : state.found_inf) {
        found.add_(found_inf.to(found.device()));
        any = true;
      }
    }
    TORCH_CHECK(any, "No inf checks were recorded prior to update.");
    at::_amp_update_scale_(
        scale_, growth_tracker_, found, options_.growth_factor(), options_.backoff_factor(),
        options_.growth_interval());
  }
  optimizers_->clear();
}

double GradScaler::get_scale() const {
  if (!is_enabled()) {
    return 1;
  }
  return scale_.defined() ? scale_.item<double>() : start_scale_;
}

c10::IValue GradScaler::state_dict() const {
  auto state = optim::detail::string_dict();
  if (!is_enabled()) {
    return state;
  }
  state.insert(std::string("scale"), get_scale());
  state.insert(std::string("growth_factor"), options_.growth_factor());
  state.insert(std::string("backoff_factor"), options_.backoff_factor());
  state.insert(std::string("growth_interval"), options_.growth_interval());
  state.insert(
      std::string("_growth_tracker"), growth_tracker_.defined() ? growth_tracker_.item<int64_t>() : start_tracker_);
  return state;
}

void GradScaler::load_state_dict(const c10::IValue& state_dict) {
  if (!is_enabled()) {
    return;
  }
  const optim::detail::SchedulerState state(state_dict);
  TORCH_CHECK(
      state.find("scale") != nullptr,
      "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.");
  double growth = options_.growth_factor(), backoff = options_.backoff_factor();
  state.read("scale", start_scale_);
  state.read("_growth_tracker", start_tracker_);
  state.read("growth_factor", growth);
  state.read("backoff_factor", backoff);
  state.read("growth_interval", options_.growth_interval());
  set_growth_factor(growth);
  set_backoff_factor(backoff);
  if (scale_.defined()) {
    scale_.fill_(start_scale_);
    growth_tracker_.fill_(start_tracker_);
  }
}

} // namespace torch::amp
