// Dtypes of results against PyTorch's; the calls are those of reference.py.
#include <catch2/catch.hpp>

#include <torch/torch.h>

#include "test/amp/expected.h"
#include "test/amp/support.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

using at::Tensor;
using test::Says;
using torch::amp::AutocastGuard;
namespace F = torch::nn::functional;

namespace {

struct Inputs {
  Tensor v = torch::linspace(0.1, 0.9, 4);
  Tensor m = torch::linspace(0.1, 0.9, 16).view({4, 4});
  Tensor b = torch::linspace(0.1, 0.9, 32).view({2, 4, 4});
  Tensor image = torch::linspace(0, 1, 64).view({1, 1, 8, 8});
  Tensor filter = torch::linspace(-1, 1, 9).view({1, 1, 3, 3});
  Tensor labels = torch::arange(4);
  Tensor low;
};

using Call = std::function<Tensor(const Inputs&)>;

const std::vector<std::pair<std::string, Call>> calls = {
    {"mm", [](const Inputs& x) { return torch::mm(x.m, x.m); }},
    {"bmm", [](const Inputs& x) { return torch::bmm(x.b, x.b); }},
    {"matmul", [](const Inputs& x) { return torch::matmul(x.b, x.m); }},
    {"addmm", [](const Inputs& x) { return torch::addmm(x.m, x.m, x.m); }},
    {"baddbmm", [](const Inputs& x) { return torch::baddbmm(x.b, x.b, x.b); }},
    {"addbmm", [](const Inputs& x) { return torch::addbmm(x.m, x.b, x.b); }},
    {"linear", [](const Inputs& x) { return F::linear(x.m, x.m, x.v); }},
    {"mv", [](const Inputs& x) { return torch::mv(x.m, x.v); }},
    {"dot", [](const Inputs& x) { return torch::dot(x.v, x.v); }},
    {"einsum",
     [](const Inputs& x) {
       return torch::einsum("ij,jk->ik", {x.m, x.m});
     }},
    {"tensordot", [](const Inputs& x) { return torch::tensordot(x.m, x.m, {1}, {0}); }},
    {"conv2d", [](const Inputs& x) { return F::conv2d(x.image, x.filter); }},
    {"conv_transpose2d", [](const Inputs& x) { return F::conv_transpose2d(x.image, x.filter); }},
    {"prelu", [](const Inputs& x) { return F::prelu(x.m, x.v); }},
    {"bilinear", [](const Inputs& x) { return F::bilinear(x.m, x.m, x.b); }},
    {"attention", [](const Inputs& x) { return torch::scaled_dot_product_attention(x.b, x.b, x.b); }},
    {"add lower", [](const Inputs& x) { return x.m + x.low; }},
    {"mul lower", [](const Inputs& x) { return x.low * x.low; }},
    {"relu lower", [](const Inputs& x) { return torch::relu(x.low); }},
    {"cat mixed",
     [](const Inputs& x) {
       return torch::cat({x.m, x.low});
     }},
    {"cat lower",
     [](const Inputs& x) {
       return torch::cat({x.low, x.low});
     }},
    {"stack mixed",
     [](const Inputs& x) {
       return torch::stack({x.low, x.m});
     }},
    {"softmax lower", [](const Inputs& x) { return torch::softmax(x.low, 1); }},
    {"log_softmax lower", [](const Inputs& x) { return torch::log_softmax(x.low, 1); }},
    {"sum lower", [](const Inputs& x) { return x.low.sum(); }},
    {"mean lower", [](const Inputs& x) { return x.low.mean(); }},
    {"prod lower", [](const Inputs& x) { return x.low.prod(); }},
    {"exp lower", [](const Inputs& x) { return x.low.exp(); }},
    {"pow lower", [](const Inputs& x) { return x.low.pow(2); }},
    {"norm lower", [](const Inputs& x) { return x.low.norm(); }},
    {"cumsum lower", [](const Inputs& x) { return x.low.cumsum(0); }},
    {"quantile lower", [](const Inputs& x) { return torch::quantile(x.low, 0.5); }},
    {"inverse lower", [](const Inputs& x) { return torch::inverse(x.low + torch::eye(4)); }},
    {"fft lower", [](const Inputs& x) { return torch::fft::fft(x.low); }},
    {"trace lower", [](const Inputs& x) { return torch::trace(x.low); }},
    {"layer_norm lower",
     [](const Inputs& x) { return F::layer_norm(x.low, F::LayerNormFuncOptions({4}).weight(x.v).bias(x.v)); }},
    {"layer_norm plain", [](const Inputs& x) { return F::layer_norm(x.low, F::LayerNormFuncOptions({4})); }},
    {"group_norm lower",
     [](const Inputs& x) { return F::group_norm(x.low, F::GroupNormFuncOptions(2).weight(x.v).bias(x.v)); }},
    {"batch_norm lower",
     [](const Inputs& x) {
       return F::batch_norm(x.low, x.v * 1, x.v * 1, F::BatchNormFuncOptions().weight(x.v).bias(x.v).training(true));
     }},
    {"mse_loss lower", [](const Inputs& x) { return F::mse_loss(x.low, x.m); }},
    {"l1_loss lower", [](const Inputs& x) { return F::l1_loss(x.low, x.low); }},
    {"cross_entropy lower", [](const Inputs& x) { return F::cross_entropy(x.low, x.labels); }},
    {"nll_loss lower", [](const Inputs& x) { return F::nll_loss(x.low, x.labels); }},
    {"binary_cross_entropy", [](const Inputs& x) { return F::binary_cross_entropy(x.m, x.m); }},
    {"with_logits lower", [](const Inputs& x) { return F::binary_cross_entropy_with_logits(x.low, x.m); }},
    {"kl_div lower", [](const Inputs& x) { return F::kl_div(x.low, x.low); }},
    {"smooth_l1_loss lower", [](const Inputs& x) { return F::smooth_l1_loss(x.low, x.m); }},
    {"pad lower",
     [](const Inputs& x) {
       return F::pad(x.low.view({1, 1, 4, 4}), F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect));
     }},
    {"max_pool2d lower",
     [](const Inputs& x) {
       return F::max_pool2d(x.low.view({1, 1, 4, 4}), F::MaxPool2dFuncOptions(2));
     }},
    {"interpolate lower",
     [](const Inputs& x) {
       const auto options = F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear);
       return F::interpolate(x.low.view({1, 1, 4, 4}), options);
     }},
    {"double", [](const Inputs& x) { return torch::mm(x.m.to(at::kDouble), x.m.to(at::kDouble)); }},
    {"integers", [](const Inputs& x) { return torch::mm(x.m.to(at::kLong), x.m.to(at::kLong)); }},
    {"index_copy mixed", [](const Inputs& x) { return x.m.index_copy(0, x.labels, x.low); }},
    {"where mixed", [](const Inputs& x) { return torch::where(x.m > 0.5, x.m, x.low); }},
    {"gelu lower", [](const Inputs& x) { return F::gelu(x.low); }},
    {"embedding", [](const Inputs& x) { return F::embedding(x.labels, x.m); }},
    {"dropout lower", [](const Inputs& x) { return F::dropout(x.low, F::DropoutFuncOptions().p(0.5)); }},
    {"matrix_exp", [](const Inputs& x) { return torch::linalg_matrix_exp(x.m); }},
    {"matrix_power", [](const Inputs& x) { return torch::linalg_matrix_power(x.m, 3); }},
    {"cov", [](const Inputs& x) { return torch::cov(x.m); }},
    {"affine_grid",
     [](const Inputs& x) {
       return F::affine_grid(x.b.narrow(1, 0, 2).narrow(2, 0, 3), {2, 1, 4, 4}, false);
     }},
    {"kron", [](const Inputs& x) { return torch::kron(x.m, x.m); }},
    {"addr", [](const Inputs& x) { return torch::addr(x.m, x.v, x.v); }},
    {"outer", [](const Inputs& x) { return torch::outer(x.v, x.v); }},
    {"inner", [](const Inputs& x) { return torch::inner(x.m, x.m); }},
    {"vdot", [](const Inputs& x) { return torch::vdot(x.v, x.v); }},
    {"vecdot", [](const Inputs& x) { return torch::linalg_vecdot(x.m, x.m); }},
    {"addmv", [](const Inputs& x) { return torch::addmv(x.v, x.m, x.v); }},
    {"matmul of a vector", [](const Inputs& x) { return torch::matmul(x.m, x.v); }},
    {"matmul of vectors", [](const Inputs& x) { return torch::matmul(x.v, x.v); }},
    {"cosine_similarity", [](const Inputs& x) { return F::cosine_similarity(x.m, x.m); }},
    {"multi_dot",
     [](const Inputs& x) {
       return torch::linalg_multi_dot({x.m, x.m, x.m});
     }},
    {"pinv", [](const Inputs& x) { return torch::linalg_pinv(x.m, 1e-6, false); }},
    {"det", [](const Inputs& x) { return torch::det(x.m); }},
    {"matrix norm", [](const Inputs& x) { return torch::linalg_norm(x.m, 2); }},
    {"cdist lower", [](const Inputs& x) { return torch::cdist(x.low, x.low); }},
    {"renorm", [](const Inputs& x) { return torch::renorm(x.m, 2, 0, 1.0); }},
    {"einsum of vectors",
     [](const Inputs& x) {
       return torch::einsum("i,j->ij", {x.v, x.v});
     }},
    {"einsum of three",
     [](const Inputs& x) {
       return torch::einsum("ij,jk,kl->il", {x.m, x.m, x.m});
     }},
    {"conv1d", [](const Inputs& x) { return F::conv1d(x.b, x.b.narrow(2, 0, 3)); }},
    {"addmm lower", [](const Inputs& x) { return torch::addmm(x.v, x.low, x.m); }},
    {"instance_norm lower",
     [](const Inputs& x) {
       return F::instance_norm(x.low.view({1, 4, 4}));
     }},
    {"rms_norm lower", [](const Inputs& x) { return torch::rms_norm(x.low, {4}, x.v); }},
    {"batch_norm frozen",
     [](const Inputs& x) { return F::batch_norm(x.low, x.v, x.v, F::BatchNormFuncOptions().weight(x.v).bias(x.v)); }},
    {"avg_pool3d lower",
     [](const Inputs& x) {
       return F::avg_pool3d(x.low.view({1, 1, 4, 2, 2}), F::AvgPool3dFuncOptions(2));
     }},
    {"grid_sample",
     [](const Inputs& x) {
       return F::grid_sample(x.image, torch::zeros({1, 2, 2, 2}), F::GridSampleFuncOptions().align_corners(false));
     }},
    {"triplet lower", [](const Inputs& x) { return F::triplet_margin_loss(x.low, x.m, x.low); }},
    {"embedding_bag",
     [](const Inputs& x) {
       return F::embedding_bag(x.labels.view({2, 2}), x.m);
     }},
    {"ctc_loss lower",
     [](const Inputs& x) {
       const Tensor scores = x.low.view({2, 2, 4}).log_softmax(2), ones = torch::ones({2}, at::kLong);
       return F::ctc_loss(scores, x.labels.narrow(0, 1, 2).view({2, 1}), ones * 2, ones);
     }},
    {"lstm", [](const Inputs& x) { return std::get<0>(torch::nn::LSTM(4, 4)->forward(x.b)); }},
    {"gru", [](const Inputs& x) { return std::get<0>(torch::nn::GRU(4, 4)->forward(x.b)); }},
    {"rnn", [](const Inputs& x) { return std::get<0>(torch::nn::RNN(4, 4)->forward(x.b)); }},
    {"lstm_cell", [](const Inputs& x) { return std::get<0>(torch::nn::LSTMCell(4, 4)->forward(x.m)); }},
    {"gru_cell", [](const Inputs& x) { return torch::nn::GRUCell(4, 4)->forward(x.m); }},
    {"rnn_cell", [](const Inputs& x) { return torch::nn::RNNCell(4, 4)->forward(x.m); }},
    {"multihead",
     [](const Inputs& x) { return std::get<0>(torch::nn::MultiheadAttention(4, 2)->forward(x.b, x.b, x.b)); }},
    {"multihead weights",
     [](const Inputs& x) { return std::get<1>(torch::nn::MultiheadAttention(4, 2)->forward(x.b, x.b, x.b)); }},
    {"encoder layer",
     [](const Inputs& x) {
       return torch::nn::TransformerEncoderLayer(torch::nn::TransformerEncoderLayerOptions(4, 2).dim_feedforward(8))
           ->forward(x.b);
     }},
};

} // namespace

TEST_CASE("results have the dtypes that they have in PyTorch", "[amp]") {
  CHECK(calls.size() == test::expected_results.size());
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    const AutocastGuard on(at::kCPU, dtype);
    for (const auto& [name, call] : calls) {
      INFO(name);
      Inputs inputs;
      inputs.low = inputs.m.to(dtype);
      CHECK(test::letter(call(inputs).scalar_type(), dtype) == test::expected_results.at(name)[0]);
    }
  }
}

TEST_CASE("a product under autocast is the product of the casts", "[amp]") {
  const Inputs x;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    const Tensor want = torch::mm(x.m.to(dtype), x.m.to(dtype));
    const AutocastGuard on(at::kCPU, dtype);
    CHECK_THAT(torch::mm(x.m, x.m), test::EqualsTensor(want));
  }
}

TEST_CASE("a double argument is not made to fit", "[amp]") {
  const AutocastGuard on(at::kCPU);
  const Tensor a = torch::ones({2, 2});
  CHECK_THROWS_AS(torch::mm(a.to(at::kDouble), a), c10::Error);
  CHECK(torch::cat({a.to(at::kDouble), a}).scalar_type() == at::kDouble);
  CHECK_THROWS_MATCHES(torch::cat({a.to(at::kHalf), a}), c10::Error, Says("Unexpected floating ScalarType"));
}
