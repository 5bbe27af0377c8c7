// libtensor's half of tools/peer/roundtrip: reads in the folder what Python wrote ("python_*"), writes "tensor_*".
#include <torch/torch.h>

#include <csrc/serialize/pickle_file.h>
#include <csrc/serialize/safetensors.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

using torch::IValue;
using torch::Tensor;
using torch::serialize::load_pickle;
using torch::serialize::save_pickle;

torch::nn::Sequential make_model() {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 3, 3).bias(false)), torch::nn::BatchNorm2d(3), torch::nn::ReLU(),
      torch::nn::Flatten(), torch::nn::Linear(3 * 4 * 4, 5));
}

Tensor input() {
  return torch::arange(2 * 36, torch::kFloat).view({2, 1, 6, 6}).sin();
}

IValue state_dict_of(const torch::nn::Module& module) {
  c10::Dict<std::string, Tensor> dict;
  for (const auto& item : module.named_parameters()) {
    dict.insert(item.key(), item.value().detach());
  }
  for (const auto& item : module.named_buffers()) {
    dict.insert(item.key(), item.value());
  }
  return dict;
}

// Takes over Python's model and optimizer, trains on for three steps, and saves both.
template <typename Optimizer>
void go_on(const std::string& folder, const std::string& name) {
  auto model = make_model();
  torch::load(model, folder + "/python_" + name + "_model.pt");
  Optimizer optimizer(model->parameters(), 0.5);
  optimizer.load_state_dict(load_pickle(folder + "/python_" + name + ".pt"));
  save_pickle(state_dict_of(*model), folder + "/tensor_" + name + "_model_as_read.pt");
  save_pickle(optimizer.state_dict(), folder + "/tensor_" + name + "_as_read.pt");
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    model->forward(input()).square().mean().backward();
    optimizer.step();
  }
  save_pickle(state_dict_of(*model), folder + "/tensor_" + name + "_model.pt");
  save_pickle(optimizer.state_dict(), folder + "/tensor_" + name + ".pt");
}

void round_trip(const std::string& folder) {
  for (const char* name : {"values", "state_dict"}) {
    save_pickle(load_pickle(folder + "/python_" + name + ".pt"), folder + "/tensor_" + name + ".pt");
  }
  const auto file = torch::serialize::load_safetensors(folder + "/python.safetensors");
  torch::serialize::save_safetensors(file.tensors, folder + "/tensor.safetensors", file.metadata);
  go_on<torch::optim::SGD>(folder, "sgd");
  go_on<torch::optim::Adam>(folder, "adam");
  go_on<torch::optim::AdamW>(folder, "adamw");
  go_on<torch::optim::RMSprop>(folder, "rmsprop");
  go_on<torch::optim::Adagrad>(folder, "adagrad");
  go_on<torch::optim::NAdam>(folder, "nadam");
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "pt_roundtrip FOLDER\n");
    return 2;
  }
  try {
    round_trip(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
