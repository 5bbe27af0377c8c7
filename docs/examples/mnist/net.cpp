#include "net.h"

namespace mnist {

NetImpl::NetImpl()
    : conv1(register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 12, 5).padding(2)))),
      conv2(register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(12, 24, 5).padding(2)))),
      dropout(register_module("dropout", torch::nn::Dropout(0.25))),
      fc1(register_module("fc1", torch::nn::Linear(24 * 7 * 7, 64))),
      fc2(register_module("fc2", torch::nn::Linear(64, 10))) {}

torch::Tensor NetImpl::forward(torch::Tensor images) {
  torch::Tensor x = torch::max_pool2d(torch::relu(conv1->forward(images)), 2);
  x = torch::max_pool2d(torch::relu(conv2->forward(x)), 2);
  x = torch::relu(fc1->forward(x.flatten(1)));
  return torch::log_softmax(fc2->forward(dropout->forward(x)), 1);
}

} // namespace mnist
