#pragma once

#include <csrc/nn/modules/linear.h>
#include <torch/types.h>
