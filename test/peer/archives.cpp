// Writes archives of models, optimizers and values into a folder, or reads them: what one library wrote the other
// reads.
//   archives write FOLDER, archives read FOLDER
#include <torch/torch.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "report.h"

namespace {

using torch::IValue;
using torch::Tensor;

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() {
    reset();
  }
  void reset() override {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 2, 3).bias(false)));
    norm = register_module("norm", torch::nn::BatchNorm2d(2));
    body = register_module(
        "body",
        torch::nn::Sequential(
            {{"a", torch::nn::Linear(8, 4)}, {"relu", torch::nn::ReLU()}, {"b", torch::nn::Linear(4, 2)}}));
    lstm = register_module("lstm", torch::nn::LSTM(4, 3));
    list = register_module(
        "list",
        torch::nn::ModuleList(
            torch::nn::Linear(2, 2), torch::nn::Dropout(0.5), torch::nn::LayerNorm(torch::nn::LayerNormOptions({2}))));
    scale = register_parameter("scale", torch::tensor({1.5f, 2.5f}));
    frozen = register_parameter("frozen", torch::ones({2}), /*requires_grad=*/false);
    steps = register_buffer("steps", torch::tensor(int64_t{7}));
  }
  Tensor forward(Tensor x) {
    x = norm(conv(x)).flatten(1);
    return list[0]->as<torch::nn::Linear>()->forward(body->forward(x) * scale);
  }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Sequential body{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::ModuleList list{nullptr};
  Tensor scale, frozen, steps;
};
TORCH_MODULE(Net);

// Every element as bytes: round trips are exact.
void bytes(const std::string& name, const Tensor& tensor) {
  report::shape(name, tensor);
  const Tensor plain = tensor.detach().contiguous();
  const auto* data = static_cast<const uint8_t*>(plain.const_data_ptr());
  uint64_t hash = 1469598103934665603u; // FNV-1a
  for (size_t i = 0; i < plain.nbytes(); ++i) {
    hash = (hash ^ data[i]) * 1099511628211u;
  }
  report::exact(name, hash);
}

std::vector<Tensor> tensors() {
  std::vector<Tensor> all;
  for (const auto dtype :
       {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kByte, torch::kChar, torch::kShort,
        torch::kInt, torch::kLong, torch::kBool, torch::kComplexFloat, torch::kComplexDouble}) {
    all.push_back((torch::arange(6, torch::kFloat).view({2, 3}) - 2).to(dtype));
  }
  const auto base = torch::arange(20, torch::kFloat);
  all.push_back(base.slice(0, 3, 9));
  all.push_back(base.view({4, 5}).t());
  all.push_back(torch::zeros({0, 4}));
  all.push_back(torch::tensor(2.5));
  all.push_back(torch::randn({3}).requires_grad_());
  return all;
}

template <typename Optimizer>
void train(NetImpl& net, Optimizer& optimizer, int steps) {
  const auto input = torch::arange(2 * 16, torch::kFloat).view({2, 1, 4, 4}).sin();
  const auto target = torch::tensor({{0.5f, -0.5f}, {1.f, 0.f}});
  for (int i = 0; i < steps; ++i) {
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net.forward(input), target);
      loss.backward();
      return loss;
    });
  }
}

// Each optimizer trained for three steps, then saved with its model; read back, it goes on for two more.
template <typename Optimizer, typename Options>
void optimizer_files(const std::string& folder, const std::string& name, const Options& options, bool write) {
  torch::manual_seed(41);
  Net net;
  Optimizer optimizer(net->parameters(), write ? options : Options(1.0));
  const std::string model_file = folder + "/" + name + "_model.pt", file = folder + "/" + name + ".pt";
  if (write) {
    train(*net, optimizer, 3);
    torch::save(net, model_file);
    torch::save(optimizer, file);
    return;
  }
  torch::load(net, model_file);
  torch::load(optimizer, file);
  for (const auto& item : net->named_parameters()) {
    bytes(name + " " + item.key(), item.value());
  }
  for (const auto& item : net->named_buffers()) {
    bytes(name + " " + item.key(), item.value());
  }
  report::exact("states", optimizer.state().size());
  report::exact("groups", optimizer.param_groups().size());
  report::number("rate", optimizer.param_groups()[0].options().get_lr());
  train(*net, optimizer, 2);
  for (const auto& item : net->named_parameters()) {
    report::close(name + " later " + item.key(), item.value());
  }
}

void optimizers(const std::string& folder, bool write) {
  using namespace torch::optim;
  optimizer_files<SGD>(folder, "sgd", SGDOptions(0.01).momentum(0.9).nesterov(true), write);
  optimizer_files<Adam>(folder, "adam", AdamOptions(0.01).betas({0.8, 0.95}).weight_decay(0.01).amsgrad(true), write);
  optimizer_files<AdamW>(folder, "adamw", AdamWOptions(0.02).eps(1e-6), write);
  optimizer_files<Adagrad>(folder, "adagrad", AdagradOptions(0.02).lr_decay(0.1), write);
  optimizer_files<RMSprop>(folder, "rmsprop", RMSpropOptions(0.01).centered(true).momentum(0.1), write);
}

void write_values(const std::string& folder) {
  torch::serialize::OutputArchive archive, nested, deep;
  archive.write("epoch", IValue(int64_t{12}));
  archive.write("loss", IValue(0.25));
  archive.write("name", IValue(std::string("a \"name\"\n")));
  archive.write("best", IValue(true));
  archive.write("nothing", IValue());
  archive.write("sizes", IValue(std::vector<int64_t>{1, 2, 3}));
  archive.write("rates", IValue(std::vector<double>{0.5, 1e-30}));
  archive.write("tensors", IValue(std::vector<Tensor>{torch::ones({2}), torch::zeros({1}, torch::kLong)}));
  c10::Dict<std::string, Tensor> dict;
  dict.insert("x", torch::full({2}, 3.));
  dict.insert("y", torch::full({1}, 4.));
  archive.write("dict", IValue(dict));
  archive.write("tuple", IValue(std::make_tuple(int64_t{1}, 2.5, std::string("three"))));
  archive.write("weight", torch::arange(4, torch::kFloat));
  archive.write("buffer", torch::arange(3), /*is_buffer=*/true);
  deep.write("z", torch::zeros({1}));
  nested.write("k", IValue(int64_t{1}));
  nested.write("deep", deep);
  archive.write("nested", nested);
  archive.save_to(folder + "/values.pt");
}

void show(torch::serialize::InputArchive& archive, const std::string& prefix) {
  for (const std::string& key : archive.keys()) {
    torch::serialize::InputArchive nested;
    if (archive.try_read(key, nested)) {
      show(nested, prefix + key + ".");
      continue;
    }
    IValue value;
    archive.read(key, value);
    if (value.isTensor()) {
      bytes(prefix + key, value.toTensor());
    } else {
      report::exact(prefix + key, value);
      report::exact(prefix + key, value.type()->annotation_str());
    }
  }
}

void write(const std::string& folder) {
  torch::manual_seed(40);
  torch::save(tensors(), folder + "/tensors.pt");
  torch::save(torch::randn({2, 3}), folder + "/tensor.pt");
  Net net;
  torch::save(net, folder + "/net.pt");
  std::ostringstream stream;
  torch::save(torch::arange(5), stream);
  std::ofstream(folder + "/stream.pt", std::ios::binary) << stream.str();
  const auto pickled = torch::pickle_save(IValue(tensors()));
  std::ofstream(folder + "/pickled.pt", std::ios::binary)
      .write(pickled.data(), static_cast<std::streamsize>(pickled.size()));
  write_values(folder);
}

void read(const std::string& folder) {
  std::vector<Tensor> all;
  torch::load(all, folder + "/tensors.pt");
  for (const auto& tensor : all) {
    bytes("tensor", tensor);
  }
  Tensor tensor;
  torch::load(tensor, folder + "/tensor.pt");
  bytes("one", tensor);
  Net net;
  torch::load(net, folder + "/net.pt", torch::kCPU);
  for (const auto& item : net->named_parameters()) {
    bytes(item.key(), item.value());
  }
  for (const auto& item : net->named_buffers()) {
    bytes(item.key(), item.value());
  }
  std::ifstream stream(folder + "/stream.pt", std::ios::binary);
  Tensor from_stream;
  torch::load(from_stream, stream);
  bytes("stream", from_stream);
  std::ifstream file(folder + "/pickled.pt", std::ios::binary);
  const std::vector<char> pickled((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const IValue list = torch::pickle_load(pickled);
  for (const IValue& element : list.toListRef()) {
    bytes("pickled", element.toTensor());
  }
  torch::serialize::InputArchive archive;
  archive.load_from(folder + "/values.pt");
  show(archive, "");
  report::throws("missing file", [&] { torch::load(tensor, folder + "/none.pt"); });
  report::throws("missing key", [&] {
    IValue value;
    archive.read("none", value);
  });
  report::throws("another net", [&] {
    torch::nn::Linear linear(2, 2);
    torch::load(linear, folder + "/values.pt");
  });
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "archives write|read FOLDER\n");
    return 2;
  }
  const bool writing = std::strcmp(argv[1], "write") == 0;
  writing ? write(argv[2]) : read(argv[2]);
  optimizers(argv[2], writing);
  return 0;
}
