#pragma once

#include <csrc/nn/modules/distance.h>
#include <torch/types.h>
