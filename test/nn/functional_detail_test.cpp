// torch::nn::functional::detail: the settings as arguments give what the options give.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace F = torch::nn::functional;
using torch::Tensor;

namespace {

struct Pair {
  std::string name;
  Tensor by_arguments, by_options;
};

void compare(const std::vector<Pair>& pairs) {
  for (const auto& [name, by_arguments, by_options] : pairs) {
    INFO(name);
    CHECK(torch::equal(by_arguments, by_options));
  }
}

Tensor drawn(at::IntArrayRef sizes) {
  return torch::randn(sizes);
}

} // namespace

TEST_CASE("activations with settings as arguments", "[nn][functional]") {
  const Tensor x = drawn({3, 4});
  compare({
      {"elu", F::detail::elu(x, 0.3, false), F::elu(x, F::ELUFuncOptions().alpha(0.3))},
      {"selu", F::detail::selu(x, false), F::selu(x)},
      {"celu", F::detail::celu(x, 0.3, false), F::celu(x, F::CELUFuncOptions().alpha(0.3))},
      {"hardtanh", F::detail::hardtanh(x, -0.2, 0.4, false),
       F::hardtanh(x, F::HardtanhFuncOptions().min_val(-0.2).max_val(0.4))},
      {"hardshrink", F::detail::hardshrink(x, 0.7), F::hardshrink(x, 0.7)},
      {"softshrink", F::detail::softshrink(x, 0.7), F::softshrink(x, 0.7)},
      {"leaky_relu", F::detail::leaky_relu(x, 0.2, false),
       F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.2))},
      {"rrelu", F::detail::rrelu(x, 0.1, 0.5, false, false), F::rrelu(x, F::RReLUFuncOptions().lower(0.1).upper(0.5))},
      {"threshold", F::detail::threshold(x, 0.1, 7, false), F::threshold(x, F::ThresholdFuncOptions(0.1, 7))},
      {"gelu", F::detail::gelu(x, "tanh"), F::gelu(x, F::GELUFuncOptions().approximate("tanh"))},
      {"glu", F::detail::glu(x, 1), F::glu(x, 1)},
      {"softplus", F::detail::softplus(x, 2, 0.3), F::softplus(x, F::SoftplusFuncOptions().beta(2).threshold(0.3))},
      {"softmax", F::detail::softmax(x, 1, torch::kDouble), x.to(torch::kDouble).softmax(1)},
      {"softmin", F::detail::softmin(x, 0, std::nullopt), F::softmin(x, 0)},
      {"log_softmax", F::detail::log_softmax(x, 1, std::nullopt), x.log_softmax(1)},
  });
  const Tensor written = x.clone();
  F::detail::relu(written, true);
  CHECK(torch::equal(written, x.relu()));
  F::detail::relu6(written.mul_(9), true);
  CHECK(torch::equal(written, F::relu6(x.relu() * 9)));
  torch::manual_seed(3);
  const Tensor by_arguments = F::detail::gumbel_softmax(x, 0.4, true, 0);
  torch::manual_seed(3);
  CHECK(torch::equal(by_arguments, F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().tau(0.4).hard(true).dim(0))));
}

TEST_CASE("norms, convolutions and pooling with settings as arguments", "[nn][functional]") {
  const Tensor x = drawn({2, 4, 6, 7}), weight = drawn({4}), bias = drawn({4}), mean = drawn({4}),
               var = torch::rand({4}) + 0.5;
  const Tensor line = drawn({2, 4, 9}), filter = drawn({6, 2, 3, 3}), filter_bias = drawn({6});
  const auto valid = F::Conv2dFuncOptions::padding_t(torch::kValid);
  compare({
      {"batch_norm", F::detail::batch_norm(x, mean, var, weight, bias, false, 0.3, 1e-2),
       torch::batch_norm(x, weight, bias, mean, var, false, 0.3, 1e-2, false)},
      {"instance_norm", F::detail::instance_norm(x, mean, var, weight, bias, false, 0.3, 1e-2),
       torch::instance_norm(x, weight, bias, mean, var, false, 0.3, 1e-2, false)},
      {"layer_norm", F::detail::layer_norm(x, {7}, drawn({7}).fill_(2), drawn({7}).fill_(3), 1e-2),
       torch::layer_norm(x, {7}, torch::full({7}, 2.0), torch::full({7}, 3.0), 1e-2)},
      {"group_norm", F::detail::group_norm(x, 2, weight, bias, 1e-2), torch::group_norm(x, 2, weight, bias, 1e-2)},
      {"local_response_norm", F::detail::local_response_norm(x, 3, 0.1, 0.6, 2),
       F::local_response_norm(x, F::LocalResponseNormFuncOptions(3).alpha(0.1).beta(0.6).k(2))},
      {"normalize", F::detail::normalize(x, 3, 2, 1e-3, std::nullopt),
       F::normalize(x, F::NormalizeFuncOptions().p(3).dim(2).eps(1e-3))},
      {"conv1d", F::detail::conv1d(line, torch::ones({6, 2, 3}), {}, 2, 1, 2, 2),
       torch::conv1d(line, torch::ones({6, 2, 3}), {}, 2, 1, 2, 2)},
  });
  compare({
      {"conv2d", F::detail::conv2d(x, filter, filter_bias, {1, 2}, torch::ExpandingArray<2>({2, 1}), 2, 2),
       torch::conv2d(x, filter, filter_bias, {1, 2}, {2, 1}, 2, 2)},
      {"conv2d valid", F::detail::conv2d(x, filter, filter_bias, 1, valid, 1, 2),
       F::conv2d(x, filter, F::Conv2dFuncOptions().bias(filter_bias).padding(torch::kValid).groups(2))},
      {"conv_transpose2d",
       F::detail::conv_transpose2d(x, drawn({4, 3, 3, 2}).fill_(0.5), drawn({6}).fill_(1), {2}, {1}, {1}, 2, {1, 2}),
       torch::conv_transpose2d(x, torch::full({4, 3, 3, 2}, 0.5), torch::ones({6}), 2, 1, 1, 2, {1, 2})},
      {"unfold", F::detail::unfold(x, {2, 3}, 2, 1, {1, 2}), torch::im2col(x, {2, 3}, {2, 2}, {1, 1}, {1, 2})},
      {"avg_pool2d", F::detail::avg_pool2d(x, {2, 3}, 2, 1, true, false, 5),
       torch::avg_pool2d(x, {2, 3}, 2, 1, true, false, 5)},
      {"max_pool2d", F::detail::max_pool2d(x, {2, 3}, 2, 1, 2, true), torch::max_pool2d(x, {2, 3}, 2, 1, 2, true)},
      {"max_pool1d indices", std::get<1>(F::detail::max_pool1d_with_indices(line, 3, 2, 1, 1, false)),
       std::get<1>(torch::max_pool1d_with_indices(line, 3, 2, 1, 1, false))},
      {"adaptive_avg_pool2d", F::detail::adaptive_avg_pool2d(x, {3, std::nullopt}),
       torch::adaptive_avg_pool2d(x, {3, 7})},
      {"adaptive_max_pool2d", std::get<0>(F::detail::adaptive_max_pool2d_with_indices(x, {2, 3})),
       std::get<0>(torch::adaptive_max_pool2d(x, {2, 3}))},
      {"lp_pool2d", F::detail::lp_pool2d(x, 2, {2, 3}, 1, false),
       F::lp_pool2d(x, F::LPPool2dFuncOptions(2, {2, 3}).stride(1))},
      {"pad", F::detail::pad(x, {1, 2, 0, 1}, torch::kReflect, 0),
       F::pad(x, F::PadFuncOptions({1, 2, 0, 1}).mode(torch::kReflect))},
      {"interpolate",
       F::detail::interpolate(x, std::vector<int64_t>{4, 9}, std::nullopt, torch::kBilinear, true, std::nullopt, false),
       torch::upsample_bilinear2d(x, {4, 9}, true)},
      {"pixel_shuffle", F::detail::pixel_shuffle(x, 2), torch::pixel_shuffle(x, 2)},
  });
}

TEST_CASE("losses, distances and embeddings with settings as arguments", "[nn][functional]") {
  const Tensor x = drawn({3, 4}), y = drawn({3, 4}), z = drawn({3, 4}), weight = torch::rand({4}),
               classes = torch::tensor({1, 0, 3});
  const Tensor chance = torch::sigmoid(x), sign = torch::tensor({1.0, -1.0, 1.0});
  compare({
      {"mse_loss", F::detail::mse_loss(x, y, torch::kSum), torch::mse_loss(x, y, at::Reduction::Sum)},
      {"kl_div", F::detail::kl_div(x, y, torch::kSum, true), torch::kl_div(x, y, at::Reduction::Sum, true)},
      {"smooth_l1_loss", F::detail::smooth_l1_loss(x, y, torch::kNone, 0.5),
       torch::smooth_l1_loss(x, y, at::Reduction::None, 0.5)},
      {"huber_loss", F::detail::huber_loss(x, y, torch::kNone, 0.5), torch::huber_loss(x, y, at::Reduction::None, 0.5)},
      {"binary_cross_entropy", F::detail::binary_cross_entropy(chance, chance, weight, torch::kSum),
       torch::binary_cross_entropy(chance, chance, weight, at::Reduction::Sum)},
      {"binary_cross_entropy_with_logits",
       F::detail::binary_cross_entropy_with_logits(x, chance, weight, torch::kSum, z.abs()),
       torch::binary_cross_entropy_with_logits(x, chance, weight, z.abs(), at::Reduction::Sum)},
      {"nll_loss", F::detail::nll_loss(x, classes, weight, 3, torch::kMean),
       torch::nll_loss(x, classes, weight, at::Reduction::Mean, 3)},
      {"cross_entropy", F::detail::cross_entropy(x, classes, weight, 3, torch::kMean, 0.1),
       torch::cross_entropy_loss(x, classes, weight, at::Reduction::Mean, 3, 0.1)},
      {"poisson_nll_loss", F::detail::poisson_nll_loss(x, chance, true, false, 1e-3, torch::kSum),
       torch::poisson_nll_loss(x, chance, true, false, 1e-3, at::Reduction::Sum)},
      {"multi_margin_loss", F::detail::multi_margin_loss(x, classes, 2, 0.5, weight, torch::kSum),
       torch::multi_margin_loss(x, classes, 2, 0.5, weight, at::Reduction::Sum)},
      {"margin_ranking_loss", F::detail::margin_ranking_loss(x.select(1, 0), y.select(1, 0), sign, 0.2, torch::kSum),
       torch::margin_ranking_loss(x.select(1, 0), y.select(1, 0), sign, 0.2, at::Reduction::Sum)},
      {"triplet_margin_loss", F::detail::triplet_margin_loss(x, y, z, 0.5, 3, 1e-3, true, torch::kSum),
       torch::triplet_margin_loss(x, y, z, 0.5, 3, 1e-3, true, at::Reduction::Sum)},
      {"cosine_similarity", F::detail::cosine_similarity(x, y, 0, 1e-3), torch::cosine_similarity(x, y, 0, 1e-3)},
      {"pairwise_distance", F::detail::pairwise_distance(x, y, 3, 1e-3, true),
       torch::pairwise_distance(x, y, 3, 1e-3, true)},
      {"embedding", F::detail::embedding(classes, x.t(), 1, std::nullopt, 2, false, false),
       x.t().index_select(0, classes)},
      {"embedding_bag",
       F::detail::embedding_bag(
           classes, x.t(), torch::tensor({0, 2}), std::nullopt, 2, false, torch::kSum, false, {}, false, std::nullopt),
       std::get<0>(torch::embedding_bag(x.t(), classes, torch::tensor({0, 2}), false, 0))},
  });
  torch::manual_seed(5);
  const Tensor dropped = F::detail::dropout(x, 0.25, true, false);
  torch::manual_seed(5);
  CHECK(torch::equal(dropped, torch::dropout(x, 0.25, true)));
}
