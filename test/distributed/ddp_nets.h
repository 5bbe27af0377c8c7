// What tests of data parallel training share: a net, its batches, and the average as it is defined.
#pragma once

#include "expect.h"
#include "ranks.h"

#include <torch/distributed.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

namespace test {

// Numbers that all processes make alike.
inline void fill(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) {
    parameter.copy_(torch::arange(parameter.numel()).remainder(17).sub(8).view_as(parameter) / 40);
  }
}

inline at::Tensor rows(int64_t count, int64_t features = 6) {
  return torch::arange(count * features).remainder(11).sub(5).view({count, features}).to(at::kFloat) / 5;
}

struct MlpImpl : torch::nn::Module {
  MlpImpl() {
    first = register_module("first", torch::nn::Linear(6, 40));
    second = register_module("second", torch::nn::Linear(40, 40));
    last = register_module("last", torch::nn::Linear(40, 3));
    fill(*this);
  }
  at::Tensor forward(const at::Tensor& x) {
    return last(torch::relu(second(torch::relu(first(x)))));
  }
  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
};
TORCH_MODULE(Mlp);

inline std::vector<at::Tensor> grads_of(torch::nn::Module& module) {
  std::vector<at::Tensor> grads;
  for (const auto& parameter : module.parameters()) {
    grads.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::Tensor());
  }
  return grads;
}

// The same gradients, bit for bit.
inline void expect_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  expect(a.size() == b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    expect(a[i].defined() && a[i].equal(b[i]), "gradient " + std::to_string(i));
  }
}

// Each rank's gradients divided, then summed in the order of ranks.
template <class Net>
std::vector<at::Tensor> serial_average(int size, const std::function<void(Net&, int rank)>& step) {
  std::vector<at::Tensor> sums;
  for (int rank = 0; rank < size; ++rank) {
    Net net;
    step(net, rank);
    const auto grads = grads_of(*net);
    for (size_t i = 0; i < grads.size(); ++i) {
      const auto part = grads[i].defined() ? grads[i] / size : torch::zeros_like(net->parameters()[i]);
      if (rank == 0) {
        sums.push_back(part);
      } else {
        sums[i] = sums[i] + part;
      }
    }
  }
  return sums;
}

inline torch::nn::parallel::DistributedDataParallelOptions ddp_options(const GroupPtr& group, double cap = 0.004) {
  return torch::nn::parallel::DistributedDataParallelOptions().process_group(group).bucket_cap_mb(cap);
}

} // namespace test
