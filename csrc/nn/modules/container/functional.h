// A function as a module.
#pragma once

#include <csrc/nn/cloneable.h>

#include <functional>
#include <type_traits>
#include <utility>

namespace torch::nn {

/// Wraps a function of a tensor, or one of more arguments with all but the first given here:
/// `Functional(torch::elu, 1.0, 0, 1.0)`. It has no state and nothing to save.
class TORCH_API FunctionalImpl : public torch::nn::Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function);
  template <typename SomeFunction, typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(SomeFunction function, Args&&... args)
      : FunctionalImpl(Function(
            [function, args...](Tensor input) mutable -> Tensor { return function(std::move(input), args...); })) {}

  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  Tensor forward(Tensor input);
  Tensor operator()(Tensor input);

  bool is_serializable() const override;

 private:
  Function function_;
};
using Functional = BuiltinHolder<FunctionalImpl>;

} // namespace torch::nn
