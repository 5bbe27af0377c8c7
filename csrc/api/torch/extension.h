// The C++ part of what PyTorch's extensions include. There are no Python bindings: a PYBIND11_MODULE block is parsed and
// makes no module, unless pybind11 was included before. Register functions with TORCH_LIBRARY, or call them from C++.
#pragma once

#include <aten/core/op_registration/op_registration.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <torch/all.h>
#include <torch/library.h>

// What Python.h would bring: names of C without std::, such as isinf(x).
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef PYBIND11_MODULE
#define PYBIND11_MODULE(name, variable) \
  template <class Module>               \
  [[maybe_unused]] static void no_python_module(Module& variable)
#endif
