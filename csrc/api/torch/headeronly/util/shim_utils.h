#pragma once
#include <csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>
