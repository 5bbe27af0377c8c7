// torch::func::functionalize: a function without writes to tensors.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <csrc/func/tree.h>

#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torch::func {

namespace detail {

/// Calls operators that give what `function` gives, none of which writes to a tensor but to `arguments` in the end.
TORCH_API Leaves
functionalized_call(const Leaves& arguments, const std::function<Leaves(const Leaves&)>& function, bool removes_views);
/// Whether views are removed too. Throws for other words.
TORCH_API bool removes_views(std::string_view remove);

} // namespace detail

/// What functionalize() returns.
template <class F>
class Functionalized {
 public:
  Functionalized(F function, bool removes_views) : function_(std::move(function)), removes_views_(removes_views) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<std::decay_t<Args>...>;
    using Result = std::decay_t<decltype(std::apply(std::declval<F&>(), std::declval<Arguments&>()))>;
    const Arguments arguments(args...);
    std::optional<Result> result;
    const auto call = [&](const detail::Leaves& leaves) {
      F function = function_;
      Arguments changed = detail::with_leaves(arguments, leaves);
      result.emplace(std::apply(function, changed));
      return detail::leaves_of(*result, "result");
    };
    detail::Leaves leaves =
        detail::functionalized_call(detail::leaves_of(arguments, "arguments"), call, removes_views_);
    return detail::with_leaves(*result, std::move(leaves));
  }

 private:
  F function_;
  bool removes_views_;
};

/// A function that gives what `function` gives, but calls no operators that write to tensors: what it makes and changes
/// is made anew, and an argument (or captured tensor) that it changes is written once, in the end. `remove` says
/// whether views of tensors become copies too: "mutations" or "mutations_and_views".
///
///     auto f = torch::func::functionalize([](const torch::Tensor& x) {
///       torch::Tensor y = torch::zeros(2);
///       y.add_(x);                        // inside of vmap an error: y is the same for all samples
///       return y;
///     });
///     torch::func::vmap(f)(xs);
///
/// Each call runs the function once, on stand-ins for its arguments whose values it must not read, to see what it does,
/// and then what it did, without writes. Tensors that belong to a transform around it must be arguments: a captured one
/// is taken for one that all samples share, or throws. Throws c10::Error, saying why, for what cannot be seen: reading
/// values (item()), sizes that depend on values.
template <class F>
Functionalized<std::decay_t<F>> functionalize(F&& function, std::string_view remove = "mutations") {
  return {std::forward<F>(function), detail::removes_views(remove)};
}

} // namespace torch::func
