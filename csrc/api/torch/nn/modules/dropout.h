#pragma once

#include <csrc/nn/modules/dropout.h>
#include <torch/types.h>
