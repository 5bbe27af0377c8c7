// A generator and a discriminator against each other, in the way of a tutorial, with checkpoints.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

#include "report.h"

const int64_t kNoiseSize = 12;
const int64_t kBatchSize = 8;

struct DCGANGeneratorImpl : torch::nn::Module {
  DCGANGeneratorImpl(int kNoiseSize)
      : conv1(torch::nn::ConvTranspose2dOptions(kNoiseSize, 16, 4).bias(false)),
        batch_norm1(16),
        conv2(torch::nn::ConvTranspose2dOptions(16, 8, 3).stride(2).padding(1).bias(false)),
        batch_norm2(8),
        conv3(torch::nn::ConvTranspose2dOptions(8, 4, 4).stride(2).padding(1).bias(false)),
        batch_norm3(4),
        conv4(torch::nn::ConvTranspose2dOptions(4, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("conv4", conv4);
    register_module("batch_norm1", batch_norm1);
    register_module("batch_norm2", batch_norm2);
    register_module("batch_norm3", batch_norm3);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch_norm1(conv1(x)));
    x = torch::relu(batch_norm2(conv2(x)));
    x = torch::relu(batch_norm3(conv3(x)));
    x = torch::tanh(conv4(x));
    return x;
  }

  torch::nn::ConvTranspose2d conv1, conv2, conv3, conv4;
  torch::nn::BatchNorm2d batch_norm1, batch_norm2, batch_norm3;
};
// The order of the members differs from the order of the initializers: the tutorial has it so.
TORCH_MODULE(DCGANGenerator);

torch::nn::Sequential make_discriminator() {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 8, 4).stride(2).padding(1).bias(false)), torch::nn::BatchNorm2d(8),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 4).stride(2).padding(1).bias(false)),
      torch::nn::BatchNorm2d(16), torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 1, 3).stride(1).padding(0).bias(false)), torch::nn::Sigmoid());
}

void weights_init(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  if (module.name().find("Conv") != std::string::npos && module.parameters(false).size() > 0) {
    torch::nn::init::normal_(module.named_parameters(false)["weight"], 0.0, 0.02);
  }
  if (auto* bn = dynamic_cast<torch::nn::BatchNorm2dImpl*>(&module)) {
    torch::nn::init::normal_(bn->weight, 1.0, 0.02);
    torch::nn::init::zeros_(bn->bias);
  }
}

struct Pictures : torch::data::datasets::Dataset<Pictures> {
  explicit Pictures(int64_t count) : count(count) {}
  torch::data::Example<> get(size_t index) override {
    const auto rows = torch::arange(28, torch::kFloat).view({28, 1}),
               columns = torch::arange(28, torch::kFloat).view({1, 28});
    const auto at = static_cast<float>(index % 7) + 8;
    auto image = torch::exp(-((rows - at).square() + (columns - 14).square()) / 20.f);
    return {image.unsqueeze(0), torch::tensor(static_cast<int64_t>(index % 7))};
  }
  torch::optional<size_t> size() const override {
    return count;
  }
  int64_t count;
};

int main() {
  torch::manual_seed(1);
  torch::Device device(torch::kCPU);
  DCGANGenerator generator(kNoiseSize);
  generator->to(device);
  torch::nn::Sequential discriminator = make_discriminator();
  discriminator->to(device);
  std::cout << generator << "\n" << discriminator << "\n";
  generator->apply(weights_init);
  discriminator->apply(weights_init);
  generator->apply([](const std::string& name, torch::nn::Module& module) { report::exact(name, module.name()); }, "G");

  auto dataset =
      Pictures(80).map(torch::data::transforms::Normalize<>(0.5, 0.5)).map(torch::data::transforms::Stack<>());
  auto data_loader = torch::data::make_data_loader(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(kBatchSize).workers(2).enforce_ordering(true));

  torch::optim::Adam generator_optimizer(
      generator->parameters(), torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));
  torch::optim::Adam discriminator_optimizer(
      discriminator->parameters(), torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));

  for (int64_t epoch = 1; epoch <= 5; ++epoch) {
    int64_t batch_index = 0;
    for (const torch::data::Example<>& batch : *data_loader) {
      // Train the discriminator with real images.
      discriminator->zero_grad();
      torch::Tensor real_images = batch.data.to(device);
      torch::Tensor real_labels = torch::empty(batch.data.size(0), device).uniform_(0.8, 1.0);
      torch::Tensor real_output = discriminator->forward(real_images);
      torch::Tensor d_loss_real = torch::binary_cross_entropy(real_output, real_labels);
      d_loss_real.backward();

      // And with fake ones.
      torch::Tensor noise = torch::randn({batch.data.size(0), kNoiseSize, 1, 1}, device);
      torch::Tensor fake_images = generator->forward(noise);
      torch::Tensor fake_labels = torch::zeros(batch.data.size(0), device);
      torch::Tensor fake_output = discriminator->forward(fake_images.detach());
      torch::Tensor d_loss_fake = torch::binary_cross_entropy(fake_output, fake_labels);
      d_loss_fake.backward();
      torch::Tensor d_loss = d_loss_real + d_loss_fake;
      discriminator_optimizer.step();

      // Train the generator.
      generator->zero_grad();
      fake_labels.fill_(1);
      fake_output = discriminator->forward(fake_images);
      torch::Tensor g_loss = torch::binary_cross_entropy(fake_output, fake_labels);
      g_loss.backward();
      generator_optimizer.step();
      batch_index++;
      report::number("d_loss " + std::to_string(epoch) + " " + std::to_string(batch_index), d_loss.item<float>());
      report::number("g_loss " + std::to_string(epoch) + " " + std::to_string(batch_index), g_loss.item<float>());
    }
    torch::save(generator, "generator-checkpoint.pt");
    torch::save(generator_optimizer, "generator-optimizer-checkpoint.pt");
    torch::save(discriminator, "discriminator-checkpoint.pt");
    torch::save(discriminator_optimizer, "discriminator-optimizer-checkpoint.pt");
  }
  report::close("sample", generator->forward(torch::ones({1, kNoiseSize, 1, 1})));

  // Training goes on from the checkpoint as it went on without one.
  const auto next_loss = [&](DCGANGenerator& model, torch::optim::Adam& optimizer) {
    for (int step = 0; step < 2; ++step) {
      optimizer.zero_grad();
      model->forward(torch::ones({2, kNoiseSize, 1, 1})).mean().backward();
      optimizer.step();
    }
    return model->forward(torch::ones({2, kNoiseSize, 1, 1})).mean().item<double>();
  };
  DCGANGenerator restored(kNoiseSize);
  torch::optim::Adam restored_optimizer(restored->parameters(), torch::optim::AdamOptions(1.0));
  torch::load(restored, "generator-checkpoint.pt");
  torch::load(restored_optimizer, "generator-optimizer-checkpoint.pt");
  report::number(
      "restored rate", static_cast<torch::optim::AdamOptions&>(restored_optimizer.param_groups()[0].options()).lr());
  report::number("restored", next_loss(restored, restored_optimizer));
  report::number("kept", next_loss(generator, generator_optimizer));
  return 0;
}
