// View functions from function objects.
#pragma once

#include <autograd/variable.h>

#include <memory>
#include <string>
#include <utility>

namespace torch::autograd {

/// A ViewFunc from a function object.
template <class F>
std::unique_ptr<ViewFunc> make_view_func(F function) {
  struct FromFunction final : ViewFunc {
    explicit FromFunction(F f) : function(std::move(f)) {}
    at::Tensor operator()(const at::Tensor& base) const override {
      return function(base);
    }
    std::unique_ptr<ViewFunc> clone_and_set() const override {
      return std::make_unique<FromFunction>(function);
    }
    F function;
  };
  return std::make_unique<FromFunction>(std::move(function));
}

/// Stands for the way to a view of an operator that has no derivative: throws `message`. Such a view has the creation
/// meta IN_CUSTOM_FUNCTION where it would be DEFAULT, so that it is refused before anything is written.
struct ErroringViewFunc final : ViewFunc {
  explicit ErroringViewFunc(std::string message) : message(std::move(message)) {}
  at::Tensor operator()(const at::Tensor& /*base*/) const override {
    TORCH_CHECK(false, message);
  }
  std::unique_ptr<ViewFunc> clone_and_set() const override {
    return std::make_unique<ErroringViewFunc>(message);
  }
  const std::string message;
};

} // namespace torch::autograd
