#pragma once

#include <csrc/nn/modules/activation.h>
#include <torch/types.h>
