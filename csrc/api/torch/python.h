// What extensions that include Python's half of libtorch find here: no Python. A PYBIND11_MODULE block is parsed and makes no
// module, unless pybind11 was included before. Register functions with TORCH_LIBRARY, or call them from C++.
#pragma once

#include <torch/types.h>

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
