// Gradients and jacobians with respect to arguments that are chosen when the program runs.
#pragma once

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/Exception.h>
#include <csrc/func/grad.h>
#include <csrc/func/jacobian.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::func {

namespace detail {

/// Calls `visit` with argument number `argnum`, which is a tensor.
template <class Arguments, class Visit>
void visit_tensor(Arguments& arguments, int64_t argnum, const Visit& visit) {
  int64_t place = 0;
  const auto look_at = [&](auto& argument) {
    if (place++ == argnum) {
      if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, at::Tensor>) {
        visit(argument);
      } else {
        TORCH_CHECK_VALUE(
            false, "argnums: argument ", argnum, " is no tensor. Choose it when the program is compiled: grad<", argnum,
            ">(f)");
      }
    }
  };
  std::apply([&](auto&... argument) { (look_at(argument), ...); }, arguments);
}

/// A transform of the function of the chosen arguments alone. `Transform` makes it from a function of a list of
/// tensors.
template <class F, class Transform>
class WithArgnums {
 public:
  WithArgnums(F function, Transform transform, std::vector<int64_t> argnums)
      : function_(std::move(function)), transform_(std::move(transform)), argnums_(std::move(argnums)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    std::tuple<std::decay_t<Args>...> arguments(args...);
    std::vector<int64_t> argnums;
    std::vector<at::Tensor> chosen;
    for (const int64_t argnum : argnums_) {
      const auto count = static_cast<int64_t>(sizeof...(Args));
      TORCH_CHECK_VALUE(
          argnum >= -count && argnum < count, "argnums: got ", argnum, ", but there are ", count, " arguments");
      argnums.push_back(c10::maybe_wrap_dim(argnum, count));
      visit_tensor(arguments, argnums.back(), [&](at::Tensor& argument) { chosen.push_back(argument); });
    }
    const auto of_chosen = [&](const std::vector<at::Tensor>& tensors) {
      auto changed = arguments;
      for (size_t i = 0; i < argnums.size(); ++i) {
        visit_tensor(changed, argnums[i], [&](at::Tensor& argument) { argument = tensors[i]; });
      }
      F function = function_;
      return std::apply(function, changed);
    };
    return transform_(of_chosen)(chosen);
  }

 private:
  F function_;
  Transform transform_;
  std::vector<int64_t> argnums_;
};

template <class F, class Transform>
WithArgnums<std::decay_t<F>, Transform> with_argnums(F&& function, Transform transform, std::vector<int64_t> argnums) {
  return {std::forward<F>(function), std::move(transform), std::move(argnums)};
}

} // namespace detail

/// grad(), grad_and_value(), jacrev(), jacfwd() and hessian() with respect to arguments that are known when the program
/// runs: those, which are tensors, are numbered by `argnums` from 0, or from the last one by -1. In the place of the
/// structure of one argument the results have a vector with a tensor for each of them.
///
///     std::vector<torch::Tensor> gradients = torch::func::grad(loss, argnums)(weight, bias, x);
///
/// Throws c10::ValueError for numbers that no argument has, and for arguments that are no tensors.
template <class F>
auto grad(F&& function, std::vector<int64_t> argnums) {
  const auto transform = [](const auto& f) { return grad<0>(f); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto grad(F&& function, std::vector<int64_t> argnums, HasAux) {
  const auto transform = [](const auto& f) { return grad<0>(f, has_aux); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto grad_and_value(F&& function, std::vector<int64_t> argnums) {
  const auto transform = [](const auto& f) { return grad_and_value<0>(f); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto grad_and_value(F&& function, std::vector<int64_t> argnums, HasAux) {
  const auto transform = [](const auto& f) { return grad_and_value<0>(f, has_aux); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto jacrev(F&& function, std::vector<int64_t> argnums, std::optional<int64_t> chunk_size = std::nullopt) {
  const auto transform = [chunk_size](const auto& f) { return jacrev<0>(f, chunk_size); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto jacfwd(F&& function, std::vector<int64_t> argnums, std::optional<int64_t> chunk_size = std::nullopt) {
  const auto transform = [chunk_size](const auto& f) { return jacfwd<0>(f, chunk_size); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}
template <class F>
auto hessian(F&& function, std::vector<int64_t> argnums) {
  const auto transform = [](const auto& f) { return hessian<0>(f); };
  return detail::with_argnums(std::forward<F>(function), transform, std::move(argnums));
}

} // namespace torch::func
