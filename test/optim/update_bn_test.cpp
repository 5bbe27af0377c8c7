// Batch normalization after parameters have been averaged.
#include <torch/optim/swa_utils.h>
#include <torch/torch.h>

#include "test/support/matchers.h"

#include <vector>

using namespace torch;
using optim::swa_utils::update_bn;

namespace {

nn::Sequential small_net() {
  nn::Sequential net(
      nn::BatchNorm1d(nn::BatchNorm1dOptions(3).momentum(0.3)), nn::Linear(3, 4),
      nn::BatchNorm1d(nn::BatchNorm1dOptions(4).affine(false)));
  net->to(kDouble);
  return net;
}

std::vector<Tensor> batches() {
  std::vector<Tensor> list;
  for (int64_t i = 0; i < 3; ++i) {
    list.push_back((torch::arange(15, kDouble) * 0.9 + static_cast<double>(i)).sin().view({5, 3}));
  }
  return list;
}

} // namespace

TEST_CASE("running statistics become the means of a pass", "[optim][swa]") {
  auto net = small_net();
  auto& first = net->at<nn::BatchNorm1dImpl>(0);
  auto& last = net->at<nn::BatchNorm1dImpl>(2);
  net->forward(torch::full({2, 3}, 100., kDouble)); // statistics that are to go
  net->eval();
  last.train();
  std::vector<Tensor> list = batches();
  update_bn(list, net);

  // Of each batch, with the variance unbiased, as momentum nullopt averages them.
  Tensor mean = torch::zeros({3}, kDouble), var = torch::zeros({3}, kDouble);
  for (const Tensor& batch : list) {
    mean += batch.mean(0) / 3;
    var += batch.var(0) / 3;
  }
  CHECK(at::allclose(first.running_mean, mean, 1e-12, 1e-12));
  CHECK(at::allclose(first.running_var, var, 1e-12, 1e-12));
  CHECK(first.num_batches_tracked.item<int64_t>() == 3);
  CHECK(last.running_mean.abs().max().item<double>() < 10);
  CHECK(first.options.momentum() == 0.3);
  CHECK(last.options.momentum() == 0.1);
  CHECK_FALSE(net->is_training());
  CHECK_FALSE(first.is_training());
  CHECK(last.is_training());
  for (const Tensor& p : net->parameters()) {
    CHECK_FALSE(p.grad().defined());
  }
}

TEST_CASE("a loader of examples gives their data, and errors leave the modes", "[optim][swa]") {
  auto net = small_net();
  net->eval();
  const Tensor images = torch::cat(batches());
  auto dataset =
      data::datasets::TensorDataset(images).map(data::transforms::Lambda<data::TensorExample, data::Example<>>(
          [](data::TensorExample example) { return data::Example<>(example.data, torch::zeros({1})); }));
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      dataset.map(data::transforms::Stack<data::Example<>>()), data::DataLoaderOptions(5));
  update_bn(*loader, *net);
  auto expected = small_net();
  std::vector<Tensor> list = batches();
  update_bn(list, *expected);
  CHECK(at::allclose(
      net->at<nn::BatchNorm1dImpl>(0).running_mean, expected->at<nn::BatchNorm1dImpl>(0).running_mean, 1e-12, 1e-12));

  std::vector<Tensor> wrong = {torch::zeros({5, 2}, kDouble)};
  CHECK_THROWS_AS(update_bn(wrong, net), c10::Error);
  CHECK_FALSE(net->is_training());
  CHECK(net->at<nn::BatchNorm1dImpl>(0).options.momentum() == 0.3);

  nn::Linear plain(2, 2);
  std::vector<Tensor> unread = {torch::zeros({5, 7})};
  CHECK_NOTHROW(update_bn(unread, plain));
}
