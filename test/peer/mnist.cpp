// A convolutional net on files of MNIST's format: train, test, save the best, load it again.
#include <torch/torch.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "report.h"

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 6, /*kernel_size=*/5)),
        conv2(torch::nn::Conv2dOptions(6, 8, /*kernel_size=*/5)),
        fc1(128, 32),
        fc2(32, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({-1, 128});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.5, /*train=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

// The same with batch norm and blocks, as larger nets are written.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(int64_t in, int64_t out, int64_t stride = 1)
      : conv(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)), bn(out), downsample(nullptr) {
    register_module("conv", conv);
    register_module("bn", bn);
    if (stride != 1 || in != out) {
      downsample = torch::nn::Sequential(
          torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
          torch::nn::BatchNorm2d(out));
      register_module("downsample", downsample);
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto residual = downsample.is_empty() ? x : downsample->forward(x);
    return torch::relu(bn->forward(conv->forward(x)) + residual);
  }

 private:
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d bn;
  torch::nn::Sequential downsample;
};
TORCH_MODULE(Block);

class ResNetImpl : public torch::nn::Module {
 public:
  explicit ResNetImpl(int64_t classes = 10) : fc(16, classes) {
    layers->push_back(Block(1, 8, 2));
    layers->push_back(Block(8, 8));
    layers->push_back("wide", Block(8, 16, 2));
    layers->push_back(torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({1, 1})));
    layers = register_module("layers", layers);
    register_module("fc", fc);
    for (auto& module : modules(/*include_self=*/false)) {
      if (auto* conv = dynamic_cast<torch::nn::Conv2dImpl*>(module.get())) {
        torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      } else if (auto* bn = module->as<torch::nn::BatchNorm2d>()) {
        torch::nn::init::constant_(bn->weight, 1);
        torch::nn::init::constant_(bn->bias, 0);
      }
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    x = layers->forward(x);
    return fc(x.flatten(1));
  }

 private:
  torch::nn::Sequential layers;
  torch::nn::Linear fc;
};
TORCH_MODULE(ResNet);

void big_endian(std::ostream& out, uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) {
    out.put(static_cast<char>(number >> shift));
  }
}

// Bars of which direction and place tell the label. libtorch wants the numbers of images that MNIST has: what follows
// the first `count` is empty.
void write_images(const std::string& images_name, const std::string& labels_name, int count, int total) {
  std::ofstream images(images_name, std::ios::binary), labels(labels_name, std::ios::binary);
  for (const uint32_t number : {2051u, static_cast<uint32_t>(total), 28u, 28u}) {
    big_endian(images, number);
  }
  for (const uint32_t number : {2049u, static_cast<uint32_t>(total)}) {
    big_endian(labels, number);
  }
  uint32_t random = 12345;
  for (int i = 0; i < count; ++i) {
    const int label = i * 7 % 10;
    labels.put(static_cast<char>(label));
    for (int y = 0; y < 28; ++y) {
      for (int x = 0; x < 28; ++x) {
        random = random * 1664525u + 1013904223u;
        const int along = label < 5 ? x : y;
        const bool bar = along / 5 == label % 5;
        images.put(static_cast<char>((bar ? 180 : 20) + (random >> 28) * 3));
      }
    }
  }
  images.seekp(16 + total * 28l * 28l - 1).put(0);
  labels.seekp(8 + total - 1).put(0);
}

template <typename DataLoader>
void train(
    size_t epoch, Net& model, torch::Device device, DataLoader& data_loader, torch::optim::Optimizer& optimizer) {
  model.train();
  size_t batch_idx = 0;
  for (auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
    report::number(
        "epoch " + std::to_string(epoch) + " batch " + std::to_string(batch_idx++), loss.template item<float>());
  }
}

template <typename DataLoader>
void test(Net& model, torch::Device device, DataLoader& data_loader, size_t dataset_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int32_t correct = 0;
  for (const auto& batch : data_loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum).template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  report::number("test loss", test_loss / dataset_size);
  report::exact("correct", correct);
}

int main() {
  torch::manual_seed(1);
  torch::DeviceType device_type = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  torch::Device device(device_type);
  write_images("train-images-idx3-ubyte", "train-labels-idx1-ubyte", 250, 60000);
  write_images("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 60, 10000);

  Net model;
  model.to(device);
  std::cout << model << "\n";
  for (const auto& pair : model.named_parameters()) {
    report::close(pair.key(), pair.value());
  }

  auto train_dataset = torch::data::datasets::MNIST(".")
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  report::exact("train size", train_dataset.size().value());
  auto train_loader =
      torch::data::make_data_loader(std::move(train_dataset), torch::data::samplers::RandomSampler(250), 10);
  auto test_dataset = torch::data::datasets::MNIST(".", torch::data::datasets::MNIST::Mode::kTest)
                          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                          .map(torch::data::transforms::Stack<>());
  report::exact("test size", test_dataset.size().value());
  auto test_loader = torch::data::make_data_loader(
      std::move(test_dataset), torch::data::samplers::SequentialSampler(60),
      torch::data::DataLoaderOptions().batch_size(16).workers(2));

  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  for (size_t epoch = 1; epoch <= 2; ++epoch) {
    train(epoch, model, device, *train_loader, optimizer);
    test(model, device, *test_loader, 60);
  }

  torch::manual_seed(2);
  ResNet resnet(10);
  std::cout << resnet << "\n";
  torch::optim::Adam adam(resnet->parameters(), torch::optim::AdamOptions(1e-3).betas({0.9, 0.99}).weight_decay(1e-4));
  torch::optim::StepLR scheduler(adam, /*step_size=*/10, /*gamma=*/0.5);
  torch::nn::CrossEntropyLoss criterion;
  auto images = torch::data::datasets::MNIST(".").images().slice(0, 0, 16),
       labels = torch::data::datasets::MNIST(".").targets().slice(0, 0, 16);
  report::shape("images", images);
  report::shape("labels", labels);
  resnet->train();
  for (int step = 0; step < 50; ++step) {
    adam.zero_grad();
    auto loss = criterion(resnet->forward(images), labels);
    loss.backward();
    adam.step();
    scheduler.step();
    report::number("resnet " + std::to_string(step), loss.item<double>());
    if (step % 10 == 0) {
      report::number("lr", adam.param_groups()[0].options().get_lr());
    }
  }
  resnet->eval();
  const auto before = resnet->forward(images);
  torch::save(resnet, "resnet.pt");
  ResNet again(10);
  torch::load(again, "resnet.pt");
  again->eval();
  report::exact("as saved", torch::equal(before, again->forward(images)));
  report::throws("clone without Cloneable", [&] { again->clone(); });
  report::exact("number of parameters", resnet->parameters().size());
  report::exact("number of buffers", resnet->named_buffers().size());
  for (const auto& buffer : resnet->named_buffers()) {
    report::close(buffer.key(), buffer.value());
  }
  return 0;
}
