#pragma once

#include <torch/torch.h>

namespace mnist {

/// Two convolutions with pooling, two linear layers; gives log probabilities of the ten digits.
struct NetImpl : torch::nn::Module {
  NetImpl();
  /// `images` [n, 1, 28, 28]
  torch::Tensor forward(torch::Tensor images);

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout dropout;
  torch::nn::Linear fc1, fc2;
};
TORCH_MODULE(Net);

} // namespace mnist
