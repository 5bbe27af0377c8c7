// View functions from function objects.
#pragma once

#include <autograd/variable.h>

#include <memory>
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

} // namespace torch::autograd
