#pragma once
#include <torch/csrc/stable/tensor_struct.h>
