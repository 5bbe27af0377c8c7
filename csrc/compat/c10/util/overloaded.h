#pragma once

#include <utility>

namespace c10 {

/// One callable made of several, for std::visit: overloaded([](int) { ... }, [](float) { ... }).
template <class... Ts>
struct overloaded : Ts... {
  constexpr overloaded(Ts... functions) : Ts(std::move(functions))... {}
  using Ts::operator()...;
};

} // namespace c10
