// Training with dropout, normalization, schedules and penalties on gradients: losses over many steps, from one seed.
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace optim = torch::optim;
using torch::Tensor;

namespace {

/// Some numbers of each parameter and buffer.
void show(const std::string& name, const nn::Module& module) {
  for (const auto& parameter : module.named_parameters()) {
    report::close(name + " " + parameter.key(), parameter.value());
  }
  for (const auto& buffer : module.named_buffers()) {
    report::close(name + " " + buffer.key(), buffer.value());
  }
}

/// Fifty steps, with a schedule on the way.
void fit(
    const std::string& name, optim::Optimizer& optimizer, const std::function<Tensor()>& loss_of, double clip = 0) {
  optim::StepLR schedule(optimizer, /*step_size=*/15, /*gamma=*/0.5);
  for (int step = 0; step < 50; ++step) {
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      Tensor value = loss_of();
      value.backward();
      return value;
    });
    if (clip > 0) {
      report::number(name + " norm", nn::utils::clip_grad_norm_(optimizer.param_groups()[0].params(), clip));
    }
    schedule.step();
    report::number(name + " " + std::to_string(step), loss.item<double>());
  }
}

// ---- each optimizer ------------------------------------------------------------------------------------------------

template <typename Optimizer, typename Options>
void classifier(const std::string& name, const Options& options) {
  torch::manual_seed(21);
  nn::Sequential model(
      nn::Linear(nn::LinearOptions(12, 32).bias(false)), nn::BatchNorm1d(32), nn::GELU(), nn::Dropout(0.2),
      nn::Linear(32, 16), nn::LayerNorm(nn::LayerNormOptions({16})),
      nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.1)), nn::AlphaDropout(0.1), nn::Linear(16, 5));
  const Tensor x = torch::randn({40, 12}), y = torch::randint(5, {40}, torch::kLong);
  Optimizer optimizer(model->parameters(), options);
  fit(name, optimizer,
      [&] { return F::cross_entropy(model->forward(x), y, F::CrossEntropyFuncOptions().label_smoothing(0.1)); });
  model->eval();
  report::close(name, torch::softmax(model->forward(x), -1));
  show(name, *model);
}

void optimizers() {
  classifier<optim::SGD>("sgd", optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(1e-4));
  classifier<optim::SGD>("damped", optim::SGDOptions(0.1).momentum(0.5).dampening(0.3));
  classifier<optim::Adam>("adam", optim::AdamOptions(1e-2).weight_decay(1e-3));
  classifier<optim::Adam>("amsgrad", optim::AdamOptions(1e-2).betas(std::make_tuple(0.8, 0.9)).eps(1e-6).amsgrad(true));
  classifier<optim::AdamW>("adamw", optim::AdamWOptions(1e-2).weight_decay(0.1).amsgrad(true));
  classifier<optim::Adagrad>(
      "adagrad", optim::AdagradOptions(5e-2).lr_decay(1e-2).weight_decay(1e-3).initial_accumulator_value(0.1));
  classifier<optim::RMSprop>(
      "rmsprop", optim::RMSpropOptions(1e-3).alpha(0.9).momentum(0.5).centered(true).weight_decay(1e-3));
}

// ---- pictures ------------------------------------------------------------------------------------------------------

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl(int64_t in, int64_t out, int64_t stride) : in(in), out(out), stride(stride) {
    reset();
  }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)));
    bn1 = register_module("bn1", nn::BatchNorm2d(out));
    conv2 = register_module(
        "conv2",
        nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(torch::kSame).groups(2).padding_mode(torch::kReflect)));
    bn2 = register_module("bn2", nn::BatchNorm2d(nn::BatchNorm2dOptions(out).momentum(0.3).eps(1e-3)));
    shortcut = register_module("shortcut", nn::Sequential());
    if (stride != 1 || in != out) {
      shortcut->push_back("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)));
      shortcut->push_back("bn", nn::BatchNorm2d(out));
    }
  }
  Tensor forward(Tensor x) {
    Tensor y = bn2(conv2(torch::relu(bn1(conv1(x)))));
    y += shortcut->is_empty() ? x : shortcut->forward(x);
    return torch::relu_(y);
  }

  int64_t in, out, stride;
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

void pictures() {
  torch::manual_seed(22);
  nn::Sequential model(
      nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1)), Block(8, 8, 1), Block(8, 12, 2), nn::Dropout2d(0.2),
      nn::MaxPool2d(2), nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(12, 4));
  for (auto& module : model->modules(/*include_self=*/false)) {
    if (auto* conv = module->as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, 0.0, torch::kFanOut, torch::kReLU);
    }
  }
  const Tensor x = torch::randn({6, 3, 12, 12}), y = torch::randint(4, {6}, torch::kLong);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.02).momentum(0.9));
  fit(
      "pictures", optimizer, [&] { return torch::nll_loss(torch::log_softmax(model->forward(x), 1), y); }, /*clip=*/2);
  model->eval();
  report::close("pictures", model->forward(x));
  show("pictures", *model);
}

// ---- generative models ---------------------------------------------------------------------------------------------

struct VaeImpl : nn::Module {
  VaeImpl()
      : encoder(register_module("encoder", nn::Linear(36, 24))),
        mean(register_module("mean", nn::Linear(24, 4))),
        spread(register_module("spread", nn::Linear(24, 4))),
        decoder(register_module(
            "decoder", nn::Sequential(nn::Linear(4, 24), nn::SiLU(), nn::Linear(24, 36), nn::Sigmoid()))) {}
  std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& x) {
    const Tensor hidden = torch::tanh(encoder(x)), mu = mean(hidden), log_var = spread(hidden);
    const Tensor z = mu + torch::randn_like(mu) * (0.5 * log_var).exp();
    return {decoder->forward(z), mu, log_var};
  }
  nn::Linear encoder, mean, spread;
  nn::Sequential decoder;
};
TORCH_MODULE(Vae);

void variational() {
  torch::manual_seed(23);
  Vae model;
  const Tensor x = torch::rand({16, 36}).bernoulli();
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-2));
  fit("vae", optimizer, [&] {
    const auto [image, mu, log_var] = model(x);
    const Tensor kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum();
    return F::binary_cross_entropy(image, x, F::BinaryCrossEntropyFuncOptions().reduction(torch::kSum)) + kl;
  });
  report::close("vae", model->decoder->forward(torch::ones({1, 4})));
}

/// A critic of pictures with a penalty on its gradient, and a generator with transposed convolutions.
void adversarial() {
  torch::manual_seed(24);
  nn::Sequential generator(
      nn::Linear(6, 32), nn::Unflatten(nn::UnflattenOptions(1, {8, 2, 2})),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(8, 6, 4).stride(2).padding(1)),
      nn::GroupNorm(nn::GroupNormOptions(2, 6)), nn::ELU(),
      nn::Upsample(
          nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear).align_corners(false)),
      nn::Conv2d(nn::Conv2dOptions(6, 4, 3).padding(1)), nn::PixelShuffle(2), nn::Tanh());
  nn::Sequential critic(
      nn::Conv2d(nn::Conv2dOptions(1, 6, 4).stride(2).padding(1)),
      nn::InstanceNorm2d(nn::InstanceNorm2dOptions(6).affine(true)), nn::Softplus(),
      nn::Conv2d(nn::Conv2dOptions(6, 8, 3).stride(2)), nn::Mish(), nn::AvgPool2d(2), nn::Flatten(), nn::Linear(8, 1));
  optim::Adam of_generator(generator->parameters(), optim::AdamOptions(1e-3).betas(std::make_tuple(0.5, 0.9)));
  optim::RMSprop of_critic(critic->parameters(), optim::RMSpropOptions(1e-3));
  const Tensor real = torch::randn({8, 1, 16, 16}).tanh();
  for (int step = 0; step < 30; ++step) {
    const Tensor fake = generator->forward(torch::randn({8, 6}));
    const Tensor share = torch::rand({8, 1, 1, 1});
    const Tensor mixed = (share * real + (1 - share) * fake.detach()).requires_grad_();
    const Tensor score = critic->forward(mixed);
    const Tensor slope = torch::autograd::grad(
        {score}, {mixed}, {torch::ones_like(score)}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    const Tensor penalty = (slope.flatten(1).norm(2, 1) - 1).pow(2).mean();
    const Tensor loss = critic->forward(fake.detach()).mean() - critic->forward(real).mean() + 10 * penalty;
    of_critic.zero_grad();
    loss.backward();
    of_critic.step();
    const Tensor judged = -critic->forward(fake).mean();
    of_generator.zero_grad();
    judged.backward();
    of_generator.step();
    report::number("critic " + std::to_string(step), loss.item<double>());
    report::number("generator " + std::to_string(step), judged.item<double>());
  }
}

// ---- sequences -----------------------------------------------------------------------------------------------------

void encoder() {
  torch::manual_seed(25);
  nn::TransformerEncoder model(nn::TransformerEncoderOptions(
      nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0.1).activation(torch::kGELU), 2));
  nn::Linear head(16, 3);
  std::vector<Tensor> parameters = model->parameters();
  for (const Tensor& parameter : head->parameters()) {
    parameters.push_back(parameter);
  }
  const Tensor x = torch::randn({7, 4, 16}), y = torch::randint(3, {4, 7}, torch::kLong);
  const Tensor mask = torch::full({7, 7}, -INFINITY).triu(1);
  Tensor padding = torch::zeros({4, 7}, torch::kBool);
  padding.index_put_({1, torch::indexing::Slice(5, torch::indexing::None)}, true);
  optim::AdamW optimizer(parameters, optim::AdamWOptions(3e-3));
  fit("encoder", optimizer, [&] {
    const Tensor scores = head(model->forward(x, mask, padding)).permute({1, 2, 0});
    return F::cross_entropy(
        scores, y.masked_fill(padding, -100), F::CrossEntropyFuncOptions().weight(torch::tensor({1.f, 2.f, 0.5f})));
  });
}

/// An encoder and a decoder of GRU cells with attention between them.
void translation() {
  torch::manual_seed(26);
  nn::Embedding words(nn::EmbeddingOptions(11, 8).padding_idx(0));
  nn::GRU reader(nn::GRUOptions(8, 6).bidirectional(true).num_layers(2).dropout(0.2).batch_first(true));
  nn::GRUCell writer(20, 12);
  nn::Bilinear match(12, 12, 1);
  nn::Linear out(12, 11);
  std::vector<Tensor> parameters;
  for (const nn::Module* module :
       std::initializer_list<nn::Module*>{words.get(), reader.get(), writer.get(), match.get(), out.get()}) {
    for (const Tensor& parameter : module->parameters()) {
      parameters.push_back(parameter);
    }
  }
  const Tensor source = torch::randint(1, 11, {3, 5}, torch::kLong), target = source.flip(1);
  optim::Adagrad optimizer(parameters, optim::AdagradOptions(0.1));
  fit("translation", optimizer, [&] {
    const Tensor memory = std::get<0>(reader(words(source)));
    Tensor state = torch::zeros({3, 12}), loss = torch::zeros({});
    Tensor input = torch::zeros({3}, torch::kLong);
    for (int64_t i = 0; i < target.size(1); ++i) {
      const Tensor scores = match(state.unsqueeze(1).expand_as(memory).contiguous(), memory).squeeze(-1);
      const Tensor context = torch::bmm(scores.softmax(-1).unsqueeze(1), memory).squeeze(1);
      state = writer(torch::cat({words(input), context}, -1), state);
      loss = loss + F::nll_loss(F::log_softmax(out(state), -1), target.select(1, i));
      input = target.select(1, i);
    }
    return loss / target.size(1);
  });
}

void alignments() {
  torch::manual_seed(27);
  nn::LSTM model(nn::LSTMOptions(5, 8).proj_size(4).num_layers(2));
  nn::CTCLoss loss(nn::CTCLossOptions().blank(3).zero_infinity(true));
  // In double: a line search turns the last digits of float into other steps.
  model->to(torch::kDouble);
  const Tensor x = torch::randn({9, 2, 5}, torch::kDouble), targets = torch::tensor({0, 1, 2, 2, 1});
  const Tensor lengths = torch::tensor({9, 7}), target_lengths = torch::tensor({3, 2});
  optim::LBFGS optimizer(
      model->parameters(), optim::LBFGSOptions(0.5).max_iter(4).history_size(5).line_search_fn("strong_wolfe"));
  for (int step = 0; step < 8; ++step) {
    const Tensor value = optimizer.step([&] {
      optimizer.zero_grad();
      Tensor now = loss(std::get<0>(model->forward(x)).log_softmax(-1), targets, lengths, target_lengths);
      now.backward();
      return now;
    });
    report::number("alignment " + std::to_string(step), value.item<double>());
  }
}

// ---- losses whose operands differ in shape
// ---------------------------------------------------------------------------

void binary_scores() {
  torch::manual_seed(28);
  nn::Sequential model(nn::Linear(2, 8), nn::Sigmoid(), nn::Linear(8, 1), nn::Sigmoid());
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(1e-6));
  fit("exclusive or", optimizer, [&] {
    const Tensor x = torch::randint(2, {50, 2}, torch::kFloat);
    const Tensor labels = (x.select(1, 0) != x.select(1, 1)).to(torch::kFloat);
    return torch::binary_cross_entropy(model->forward(x), labels);
  });
  const Tensor scores = torch::rand({3, 1, 2}, torch::kDouble).requires_grad_(),
               labels = torch::rand({3, 2}, torch::kDouble);
  report::close("apart", torch::binary_cross_entropy(scores, labels, {}, at::Reduction::None));
  const Tensor loss = torch::binary_cross_entropy(scores, labels, torch::rand({3, 1, 2}, torch::kDouble));
  report::close("slope", torch::autograd::grad({loss}, {scores})[0]);
  const Tensor both = torch::binary_cross_entropy(scores, labels.unsqueeze(1));
  torch::autograd::grad({both}, {scores}, {}, true, true)[0].sum().backward();
  report::close("curvature", scores.grad());
  report::throws(
      "labels of another size", [&] { return torch::binary_cross_entropy(scores, torch::rand({4}, torch::kDouble)); });
}

} // namespace

int main() {
  optimizers();
  pictures();
  variational();
  adversarial();
  encoder();
  translation();
  alignments();
  binary_scores();
  return 0;
}
