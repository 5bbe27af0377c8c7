// What extensions that include Python's half of libtorch find here: no Python. A PYBIND11_MODULE block is parsed and
// makes no module, unless pybind11 was included before. Register functions with TORCH_LIBRARY, or call them from C++.
#pragma once

#include <csrc/compat/program_headers.h>
#include <csrc/types.h>

// What Python.h would bring: names of C without std::, such as isinf(x).
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef PYBIND11_MODULE
#define PYBIND11_MODULE(name, variable) \
  template <class Module>               \
  [[maybe_unused]] static void no_python_module(Module& variable)

// What such blocks say of pybind11, where there is none to say it to.
#if !__has_include(<pybind11/pybind11.h>)
namespace pybind11 {

/// A class or an enumeration that a module would have: every description is taken, none is kept.
template <class... Types>
struct class_ {
  template <class... Args>
  explicit class_(Args&&...) {}
  template <class... Args>
  class_& def(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& def_static(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& def_readonly(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& def_readwrite(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& def_property(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& def_property_readonly(Args&&...) {
    return *this;
  }
  template <class... Args>
  class_& value(Args&&...) {
    return *this;
  }
  class_& export_values() {
    return *this;
  }
};
template <class... Types>
using enum_ = class_<Types...>;

/// The name of an argument, perhaps with a default.
struct arg {
  explicit constexpr arg(const char*) {}
  template <class T>
  constexpr const arg& operator=(T&&) const {
    return *this;
  }
};
struct none {};
struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class... Guards>
struct call_guard {};
template <class... Args>
constexpr call_guard<Args...> init() {
  return {};
}
enum class return_value_policy { automatic, copy, move, reference, reference_internal, take_ownership };

} // namespace pybind11
#endif
#endif

namespace pybind11 {}
namespace py = pybind11;
