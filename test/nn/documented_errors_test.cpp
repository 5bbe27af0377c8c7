// The errors that comments of torch::nn::functional, its options and the optimizers promise, one call each.
#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <vector>

namespace F = torch::nn::functional;
using torch::Tensor;

TEST_CASE("activations throw where their comments say so", "[nn][functional][errors]") {
  const Tensor x = torch::rand({2, 3}), whole = torch::ones({2, 3}, torch::kLong);
  CHECK_THROWS_AS(F::elu(whole), c10::Error);
  CHECK_THROWS_AS(F::celu(x, F::CELUFuncOptions().alpha(0)), c10::Error);
  CHECK_THROWS_AS(F::hardtanh(whole.to(torch::kBool)), c10::Error);
  CHECK_THROWS_AS(F::softshrink(x, -1), c10::Error);
  CHECK_THROWS_AS(F::relu(whole.to(torch::kBool)), c10::Error);
  CHECK_THROWS_AS(F::relu(x.to(torch::kComplexFloat)), c10::Error);
  CHECK_THROWS_AS(F::rrelu(x, F::RReLUFuncOptions().lower(0.5).upper(0.1)), c10::Error);
  CHECK_THROWS_AS(F::prelu(x, torch::ones({2})), c10::Error);
  CHECK_THROWS_AS(F::gelu(x, F::GELUFuncOptions().approximate("erf")), c10::Error);
  CHECK_THROWS_AS(F::glu(x), c10::Error);
  CHECK_THROWS_AS(F::glu(torch::rand({})), c10::Error);
  CHECK_THROWS_AS(F::softmax(x, 2), c10::IndexError);
}

TEST_CASE("layers throw where their comments say so", "[nn][functional][errors]") {
  const Tensor line = torch::rand({1, 2, 8}), kernel = torch::rand({4, 2, 3}), transposed = torch::rand({2, 4, 3});
  CHECK_THROWS_AS(F::conv1d(line, torch::rand({4, 3, 3})), c10::Error);
  CHECK_THROWS_AS(F::conv1d(line, torch::rand({4, 2, 9})), c10::Error);
  CHECK_THROWS_AS(F::conv1d(line, kernel, F::Conv1dFuncOptions().stride(2).padding(torch::kSame)), c10::Error);
  CHECK_THROWS_AS(F::conv_transpose1d(line, torch::rand({3, 4, 3})), c10::Error);
  CHECK_THROWS_AS(F::conv_transpose1d(line, transposed, F::ConvTranspose1dFuncOptions().output_padding(1)), c10::Error);
  CHECK_THROWS_AS(F::batch_norm(torch::rand({3}), {}, {}), c10::Error);
  CHECK_THROWS_AS(F::batch_norm(torch::rand({1, 3}), {}, {}, F::BatchNormFuncOptions().training(true)), c10::Error);
  CHECK_THROWS_AS(F::instance_norm(line, F::InstanceNormFuncOptions().use_input_stats(false)), c10::Error);
  CHECK_THROWS_AS(F::layer_norm(line, std::vector<int64_t>{7}), c10::Error);
  CHECK_THROWS_AS(F::rms_norm(line, std::vector<int64_t>{7}), c10::Error);
  CHECK_THROWS_AS(F::group_norm(line, 3), c10::Error);
  CHECK_THROWS_AS(F::local_response_norm(torch::rand({2, 3}), 2), c10::Error);
  CHECK_THROWS_AS(F::normalize(torch::rand({3}), F::NormalizeFuncOptions().dim(1)), c10::IndexError);
  CHECK_THROWS_AS(F::dropout(line, F::DropoutFuncOptions().p(1.5)), c10::Error);
  CHECK_THROWS_AS(F::linear(line, torch::rand({4, 7})), c10::Error);
  CHECK_THROWS_AS(F::bilinear(line, line, torch::rand({3, 8, 7})), c10::Error);
  CHECK_THROWS_AS(F::embedding(torch::full({1}, 9), torch::rand({4, 2})), c10::Error);
  CHECK_THROWS_AS(F::one_hot(torch::full({1}, -1)), c10::Error);
  CHECK_THROWS_AS(F::one_hot(torch::full({1}, 4), 4), c10::Error);
}

TEST_CASE("pooling and images throw where their comments say so", "[nn][functional][errors]") {
  const Tensor line = torch::rand({1, 2, 8}), image = torch::rand({1, 2, 4, 4});
  CHECK_THROWS_AS(F::avg_pool1d(line, F::AvgPool1dFuncOptions(2).padding(2)), c10::Error);
  CHECK_THROWS_AS(F::avg_pool1d(line, F::AvgPool1dFuncOptions(2).stride(0)), c10::Error);
  CHECK_THROWS_AS(F::avg_pool1d(line, F::AvgPool1dFuncOptions(9)), c10::Error);
  CHECK_THROWS_AS(F::avg_pool2d(image, F::AvgPool2dFuncOptions(2).divisor_override(0)), c10::Error);
  CHECK_THROWS_AS(F::max_pool1d(line, F::MaxPool1dFuncOptions(2).dilation(0)), c10::Error);
  CHECK_THROWS_AS(F::adaptive_avg_pool1d(line, F::AdaptiveAvgPool1dFuncOptions(-1)), c10::Error);
  CHECK_THROWS_AS(F::adaptive_max_pool1d(torch::rand({2, 3, 0}), F::AdaptiveMaxPool1dFuncOptions(2)), c10::Error);
  CHECK_THROWS_AS(F::max_unpool1d(line, torch::full({1, 2, 8}, 99), F::MaxUnpool1dFuncOptions(2)), c10::Error);
  CHECK_THROWS_AS(F::fractional_max_pool2d(image, F::FractionalMaxPool2dFuncOptions(2)), c10::Error);
  CHECK_THROWS_AS(F::pad(line, F::PadFuncOptions({8, 0}).mode(torch::kReflect)), c10::Error);
  CHECK_THROWS_AS(F::pad(line, F::PadFuncOptions({9, 0}).mode(torch::kCircular)), c10::Error);
  CHECK_THROWS_AS(F::pad(line, F::PadFuncOptions({1, 0}).mode(torch::kReflect).value(2)), c10::Error);
  CHECK_THROWS_AS(F::pad(torch::rand({2}), F::PadFuncOptions({1, 1, 1, 1})), c10::Error);
  CHECK_THROWS_AS(F::fold(torch::rand({1, 4, 3}), F::FoldFuncOptions({4, 4}, {2, 2})), c10::Error);
  CHECK_THROWS_AS(F::unfold(image, F::UnfoldFuncOptions({5, 5})), c10::Error);
  CHECK_THROWS_AS(F::pixel_shuffle(torch::rand({1, 3, 2, 2}), 2), c10::Error);
  CHECK_THROWS_AS(F::pixel_unshuffle(torch::rand({1, 3, 3, 3}), 2), c10::Error);
  CHECK_THROWS_AS(F::affine_grid(torch::rand({1, 2, 3}), {1, 1, 0, 2}), c10::Error);
  CHECK_THROWS_AS(F::affine_grid(torch::rand({1, 3, 3}), {1, 1, 2, 2}), c10::Error);
  CHECK_THROWS_AS(F::grid_sample(image, torch::rand({2, 2, 2, 2})), c10::Error);
}

TEST_CASE("losses and distances throw where their comments say so", "[nn][functional][errors]") {
  const Tensor x = torch::rand({2, 4}), whole = torch::ones({2, 4}, torch::kLong),
               classes = torch::zeros({2}, torch::kLong);
  CHECK_THROWS_AS(F::smooth_l1_loss(x, x, F::SmoothL1LossFuncOptions().beta(-1)), c10::Error);
  CHECK_THROWS_AS(F::huber_loss(x, x, F::HuberLossFuncOptions().delta(0)), c10::Error);
  CHECK_THROWS_AS(F::kl_div(whole, whole), c10::Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(x + 1, x), c10::Error);
  CHECK_THROWS_AS(F::cross_entropy(x, classes, F::CrossEntropyFuncOptions().label_smoothing(1.5)), c10::Error);
  CHECK_THROWS_AS(F::nll_loss(x, classes + 9), c10::Error);
  const Tensor log_probs = torch::rand({5, 2, 4}).log_softmax(2), targets = torch::ones({2, 2}, torch::kLong);
  const Tensor lengths = torch::full({2}, 5), target_lengths = torch::full({2}, 2);
  CHECK_THROWS_AS(
      F::ctc_loss(log_probs, targets, lengths, target_lengths, F::CTCLossFuncOptions().blank(7)), c10::Error);
  CHECK_THROWS_AS(F::ctc_loss(log_probs, targets, lengths + 1, target_lengths), c10::Error);
  CHECK_THROWS_AS(F::ctc_loss(log_probs, targets, lengths.narrow(0, 0, 1), target_lengths), c10::Error);
  CHECK_THROWS_AS(F::soft_margin_loss(whole, whole), c10::Error);
  CHECK_THROWS_AS(F::cosine_embedding_loss(x.unsqueeze(0), x.unsqueeze(0), torch::ones({2})), c10::Error);
  CHECK_THROWS_AS(F::triplet_margin_loss(x, x, x[0]), c10::Error);
  CHECK_THROWS_AS(F::cosine_similarity(whole, whole), c10::Error);
  CHECK_THROWS_AS(F::pdist(x, -1), c10::Error);
  CHECK_THROWS_AS(F::pdist(x.unsqueeze(0)), c10::Error);
}

TEST_CASE("options of recurrent layers throw where their comments say so", "[nn][errors]") {
  CHECK_THROWS_AS(torch::nn::LSTM(torch::nn::LSTMOptions(2, 0)), c10::Error);
  CHECK_THROWS_AS(torch::nn::LSTM(torch::nn::LSTMOptions(2, 3).num_layers(0)), c10::Error);
  CHECK_THROWS_AS(torch::nn::LSTM(torch::nn::LSTMOptions(2, 3).proj_size(3)), c10::Error);
  CHECK_THROWS_AS(torch::nn::GRU(torch::nn::GRUOptions(2, 3).dropout(1.5)), c10::Error);
  const std::vector<int64_t> falling = {5, 3};
  CHECK_THROWS_AS(
      torch::nn::AdaptiveLogSoftmaxWithLoss(torch::nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, falling)), c10::Error);
  torch::nn::ConvTranspose2d reflecting(torch::nn::ConvTranspose2dOptions(1, 1, 3).padding_mode(torch::kReflect));
  CHECK_THROWS_AS(reflecting->forward(torch::rand({1, 1, 4, 4})), c10::Error);
  CHECK_THROWS_AS(torch::nn::Dropout(-0.1), c10::Error);
}

TEST_CASE("optimizers throw for options that their comments forbid", "[nn][errors]") {
  using namespace torch::optim;
  const std::vector<Tensor> params = {torch::ones({2}).requires_grad_(true)};
  CHECK_THROWS_AS(Adam(params, AdamOptions(-1)), c10::ValueError);
  CHECK_THROWS_AS(Adam(params, AdamOptions().betas({1.0, 0.9})), c10::ValueError);
  CHECK_THROWS_AS(AdamW(params, AdamWOptions().weight_decay(-1)), c10::ValueError);
  CHECK_THROWS_AS(Adadelta(params, AdadeltaOptions().rho(1.5)), c10::ValueError);
  CHECK_THROWS_AS(Adagrad(params, AdagradOptions().lr_decay(-1)), c10::ValueError);
  CHECK_THROWS_AS(Adamax(params, AdamaxOptions().eps(-1)), c10::ValueError);
  CHECK_THROWS_AS(ASGD(params, ASGDOptions().alpha(-1)), c10::ValueError);
  CHECK_THROWS_AS(LBFGS(params, LBFGSOptions().history_size(0)), c10::ValueError);
  CHECK_THROWS_AS(NAdam(params, NAdamOptions().momentum_decay(-1)), c10::ValueError);
  CHECK_THROWS_AS(RMSprop(params, RMSpropOptions().momentum(-1)), c10::ValueError);
  CHECK_THROWS_AS(Rprop(params, RpropOptions().etas({0.5, 0.9})), c10::ValueError);
  CHECK_THROWS_AS(SGD(params, SGDOptions(0.1).nesterov(true)), c10::ValueError);
  CHECK_THROWS_AS(SparseAdam(params, SparseAdamOptions(0)), c10::ValueError);
}
