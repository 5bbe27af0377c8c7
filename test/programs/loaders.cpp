#include "loaders.h"

#include <torch/script.h>

#include <stdexcept>

#include "exported.h"

namespace programs {

namespace {

using c10::IValue;

std::vector<c10::Argument> all_but_self(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const bool has_self = !arguments.empty() && arguments[0].name() == "self";
  return {arguments.begin() + (has_self ? 1 : 0), arguments.end()};
}

/// Functions of a source.
class Functions : public Loaded {
 public:
  explicit Functions(const std::string& source) : unit_(torch::jit::compile(source)) {}

  std::vector<c10::Argument> arguments(const std::string& method) override {
    return unit_->get_function(method).getSchema().arguments();
  }
  IValue call(const std::string& method, std::vector<IValue> arguments, const torch::jit::Kwargs& keywords) override {
    return unit_->get_function(method)(std::move(arguments), keywords);
  }
  void train(bool) override {}
  std::map<std::string, at::Tensor> parameters() override {
    return {};
  }
  std::map<std::string, at::Tensor> buffers() override {
    return {};
  }

 private:
  std::shared_ptr<torch::jit::CompilationUnit> unit_;
};

/// A module, from a file or defined by a source.
class ScriptModule : public Loaded {
 public:
  explicit ScriptModule(torch::jit::Module module) : module_(std::move(module)) {}

  std::vector<c10::Argument> arguments(const std::string& method) override {
    return all_but_self(module_.get_method(method).function().getSchema());
  }
  IValue call(const std::string& method, std::vector<IValue> arguments, const torch::jit::Kwargs& keywords) override {
    return module_.get_method(method)(std::move(arguments), keywords);
  }
  void train(bool on) override {
    module_.train(on);
  }
  std::map<std::string, at::Tensor> parameters() override {
    return tensors(module_.named_parameters());
  }
  std::map<std::string, at::Tensor> buffers() override {
    return tensors(module_.named_buffers());
  }

 private:
  template <class List>
  static std::map<std::string, at::Tensor> tensors(const List& list) {
    std::map<std::string, at::Tensor> named;
    for (const auto& entry : list) {
      named.emplace(entry.name, entry.value);
    }
    return named;
  }

  torch::jit::Module module_;
};

} // namespace

std::unique_ptr<Loaded> load(const Program& program) {
  const std::string kind = program.kind();
  if (kind == "compile" || kind == "refused") {
    return std::make_unique<Functions>(program.record.at("source").as_string());
  }
  if (kind == "define") {
    torch::jit::Module module("M");
    module.define(program.record.at("source").as_string());
    return std::make_unique<ScriptModule>(std::move(module));
  }
  const std::string file = program.category->folder + "/" + program.record.at("file").as_string();
  if (program.category->name == "export") {
    return load_exported(file);
  }
  return std::make_unique<ScriptModule>(torch::jit::load(file));
}

} // namespace programs
