#pragma once

#include <csrc/nn/nn.h>
#include <torch/types.h>
