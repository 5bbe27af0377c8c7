// Loads TorchScript programs and saves them again, for tools/peer/torchscript_roundtrip: each line of the input is
// WHAT, INPUT, OUTPUT with tabs between them. WHAT is `load`, `train` (then SGD changes the parameters) or `define`
// (INPUT has the source of a module's methods).
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

void train(torch::jit::Module& module) {
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : module.parameters()) {
    const bool known = std::any_of(
        parameters.begin(), parameters.end(), [&](const at::Tensor& other) { return other.is_same(parameter); });
    if (parameter.requires_grad() && parameter.is_floating_point() && !known) {
      parameters.push_back(parameter);
    }
  }
  if (parameters.empty()) {
    return;
  }
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.01).momentum(0.9));
  for (int step = 0; step < 3; ++step) {
    for (at::Tensor& parameter : parameters) {
      parameter.mutable_grad() = parameter.detach() * 0.5;
    }
    optimizer.step();
  }
}

torch::jit::Module make(const std::string& what, const std::string& input) {
  if (what == "define") {
    std::ostringstream source;
    source << std::ifstream(input).rdbuf();
    torch::jit::Module module("M");
    module.define(source.str());
    return module;
  }
  torch::jit::Module module = torch::jit::load(input);
  if (what == "train") {
    train(module);
  }
  return module;
}

} // namespace

int main() {
  int saved = 0, failed = 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string what, input, output;
    std::getline(fields, what, '\t');
    std::getline(fields, input, '\t');
    std::getline(fields, output, '\t');
    try {
      make(what, input).save(output);
      ++saved;
    } catch (const std::exception& error) {
      ++failed;
      std::cout << what << ' ' << input << ": " << std::string(error.what()).substr(0, 800) << '\n';
    }
  }
  std::cout << saved << " saved, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
