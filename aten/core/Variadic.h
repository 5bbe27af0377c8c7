#pragma once

#include <aten/core/List.h>
#include <c10/util/ArrayRef.h>

#include <utility>
#include <vector>

namespace at {

/// A visitor of argument lists: `F` derives from it and has operator() for each type that interests it, and hides
/// short_circuit() to end early. Lists are walked element by element unless F takes them whole.
template <typename F>
struct IterArgs {
  template <typename... Args>
  F& apply(Args&&... args) {
    const auto visit = [this](auto&& arg) {
      self()(std::forward<decltype(arg)>(arg));
      return !self().short_circuit();
    };
    (void)(visit(std::forward<Args>(args)) && ...);
    return self();
  }

  template <typename T>
  void operator()(at::ArrayRef<T> args) {
    each(args);
  }
  template <typename T>
  void operator()(const c10::List<T>& args) {
    each(args);
  }
  template <typename T>
  void operator()(const std::vector<T>& args) {
    self()(at::ArrayRef<T>(args));
  }

  constexpr bool short_circuit() const {
    return false;
  }

 private:
  F& self() {
    return *static_cast<F*>(this);
  }

  template <class Range>
  void each(const Range& args) {
    for (const auto& arg : args) {
      self()(arg);
      if (self().short_circuit()) {
        return;
      }
    }
  }
};

} // namespace at
