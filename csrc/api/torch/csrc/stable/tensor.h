#pragma once
#include <torch/csrc/stable/tensor_struct.h>
#include <torch/headeronly/util/Exception.h>
