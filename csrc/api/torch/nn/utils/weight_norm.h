#pragma once

#include <csrc/nn/utils/weight_norm.h>
#include <torch/types.h>
