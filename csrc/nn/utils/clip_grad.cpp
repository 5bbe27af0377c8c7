#include <csrc/nn/utils/clip_grad.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

namespace torch::nn::utils {

namespace {

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters) {
    if (parameter.grad().defined()) {
      grads.push_back(parameter.grad());
    }
  }
  return grads;
}

/// Whether all lie on one GPU: then few launches serve for all of them.
bool can_use_fast_route(const std::vector<Tensor>& grads) {
  for (const Tensor& grad : grads) {
    if (!grad.is_cuda() || grad.device() != grads.front().device() ||
        grad.scalar_type() != grads.front().scalar_type() || !grad.is_floating_point() ||
        grad.layout() != at::kStrided) {
      return false;
    }
  }
  return true;
}

Tensor norm_of(const Tensor& tensor, double norm_type) {
  return norm_type == std::numeric_limits<double>::infinity() ? tensor.abs().max() : tensor.norm(norm_type);
}

Tensor total_norm_of(const std::vector<Tensor>& grads, double norm_type) {
  if (norm_type == 0) {
    return at::full({}, static_cast<double>(grads.size()));
  }
  std::vector<Tensor> norms;
  if (can_use_fast_route(grads)) {
    norms = at::_foreach_norm(grads, norm_type);
  } else {
    norms.reserve(grads.size());
    for (const Tensor& grad : grads) {
      norms.push_back(norm_of(grad, norm_type).to(grads.front().device()));
    }
  }
  return norms.size() == 1 ? norms.front() : norm_of(at::stack(norms), norm_type);
}

} // namespace

double clip_grad_norm_(
    const std::vector<Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  c10::NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients_of(parameters);
  if (grads.empty()) {
    return 0.0;
  }
  const Tensor total_norm = total_norm_of(grads, norm_type);
  if (error_if_nonfinite) {
    TORCH_CHECK(
        std::isfinite(total_norm.item<double>()), "The total norm of order ", norm_type,
        " for gradients from `parameters` is non-finite, so it cannot be clipped. "
        "To disable this error and scale the gradients with the non-finite norm anyway, set "
        "`error_if_nonfinite=false`");
  }
  // Scaled on the device, without waiting for the number.
  const Tensor scale = (max_norm / (total_norm + 1e-6)).clamp_max(1.0);
  if (can_use_fast_route(grads)) {
    at::_foreach_mul_(grads, scale);
  } else {
    for (const Tensor& grad : grads) {
      grad.mul_(scale.to(grad.device()));
    }
  }
  return total_norm.item<double>();
}

double clip_grad_norm_(
    std::initializer_list<Tensor> parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}

double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  c10::NoGradGuard no_grad;
  for (const Tensor& grad : gradients_of(parameters)) {
    grad.clamp_(-clip_value, clip_value);
  }
}

void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}

void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}

} // namespace torch::nn::utils
