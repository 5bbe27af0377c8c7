#pragma once

#include <csrc/nn/utils/convert_parameters.h>
#include <torch/types.h>
