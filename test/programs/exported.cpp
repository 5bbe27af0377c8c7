#include "exported.h"

#include <torch/export.h>

namespace programs {

namespace {

class Exported : public Loaded {
 public:
  explicit Exported(const std::string& file) : program_(torch::load_program(file)) {}

  // Arguments have no types: they are made as they stand.
  std::vector<c10::Argument> arguments(const std::string&) override {
    return {};
  }
  c10::IValue call(
      const std::string&, std::vector<c10::IValue> arguments, const torch::jit::Kwargs& keywords) override {
    return program_(std::move(arguments), keywords);
  }
  void train(bool) override {}
  std::map<std::string, at::Tensor> parameters() override {
    return tensors(program_.module().named_parameters());
  }
  std::map<std::string, at::Tensor> buffers() override {
    return tensors(program_.module().named_buffers());
  }

 private:
  static std::map<std::string, at::Tensor> tensors(const torch::OrderedDict<std::string, at::Tensor>& list) {
    std::map<std::string, at::Tensor> named;
    for (const auto& item : list) {
      named.emplace(item.key(), item.value());
    }
    return named;
  }

  torch::ExportedProgram program_;
};

} // namespace

std::unique_ptr<Loaded> load_exported(const std::string& file) {
  return std::make_unique<Exported>(file);
}

} // namespace programs
