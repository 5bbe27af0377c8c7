// Default arguments of forward for callers that do not know the module's type.
#pragma once

#include <csrc/nn/modules/container/any_value.h>

#include <utility>
#include <vector>

/// In the class of a module whose forward has default arguments: pairs of an argument's position and its default, from
/// the first that has one to the last, as in `FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(true)})`.
/// Without it AnyModule and Sequential ask for all arguments.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                          \
  std::vector<std::pair<unsigned int, torch::nn::AnyValue>> _forward_default_args() override { \
    return {__VA_ARGS__};                                                                      \
  }
