#pragma once

#include <csrc/nn/modules/normalization.h>
#include <torch/types.h>
