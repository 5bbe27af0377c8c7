#pragma once

#include <csrc/nn/modules/utils.h>
#include <torch/types.h>
