// Makes recorded programs ready to be called: one kind of loader for each way that a program is given in.
#pragma once

#include <ATen/core/function.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program.h"

namespace programs {

/// A program as it stands after loading. Its state lives as long as the object.
class Loaded {
 public:
  virtual ~Loaded() = default;

  /// What a method takes, `self` not among them.
  virtual std::vector<c10::Argument> arguments(const std::string& method) = 0;
  virtual c10::IValue call(
      const std::string& method, std::vector<c10::IValue> arguments, const torch::jit::Kwargs& keywords) = 0;
  virtual void train(bool on) = 0;
  virtual std::map<std::string, at::Tensor> parameters() = 0;
  virtual std::map<std::string, at::Tensor> buffers() = 0;
};

/// Throws what the library throws.
std::unique_ptr<Loaded> load(const Program& program);

} // namespace programs
