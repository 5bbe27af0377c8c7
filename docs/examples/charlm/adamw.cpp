#include "adamw.h"

#include <cmath>

#include <c10/core/GradMode.h>

namespace charlm {

namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.98;
constexpr double kEps = 1e-8;
constexpr double kWeightDecay = 0.1;
constexpr double kLargestNorm = 1.0;

/// Scales all gradients down together when they are longer than kLargestNorm.
void clip_gradients(const NamedTensors& parameters) {
  std::vector<at::Tensor> norms;
  for (const auto& [name, weight] : parameters) {
    norms.push_back(weight.grad().norm());
  }
  const double norm = at::stack(norms).norm().item<double>();
  if (norm > kLargestNorm) {
    for (const auto& [name, weight] : parameters) {
      weight.grad().mul_(kLargestNorm / norm);
    }
  }
}

} // namespace

AdamW::AdamW(const NamedTensors& parameters) : parameters_(parameters) {
  for (const auto& [name, weight] : parameters_) {
    state_.emplace_back(name + ".mean", at::zeros_like(weight));
    state_.emplace_back(name + ".square", at::zeros_like(weight));
  }
}

void AdamW::update(int64_t step, double learning_rate) {
  const c10::NoGradGuard no_grad;
  clip_gradients(parameters_);
  const double mean_scale = 1 - std::pow(kBeta1, static_cast<double>(step));
  const double square_scale = std::sqrt(1 - std::pow(kBeta2, static_cast<double>(step)));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& weight = parameters_[i].second;
    const at::Tensor& grad = weight.grad();
    at::Tensor& mean = state_[2 * i].second;
    at::Tensor& square = state_[2 * i + 1].second;
    mean.mul_(kBeta1).add_(grad, 1 - kBeta1);
    square.mul_(kBeta2).addcmul_(grad, grad, 1 - kBeta2);
    if (weight.dim() > 1) {
      weight.mul_(1 - learning_rate * kWeightDecay);
    }
    const at::Tensor length = square.sqrt().div_(square_scale).add_(kEps);
    weight.addcdiv_(mean, length, -learning_rate / mean_scale);
    weight.mutable_grad().reset();
  }
}

} // namespace charlm
