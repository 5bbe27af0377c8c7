#pragma once

#include <csrc/nn/modules/conv.h>
#include <torch/types.h>
