#pragma once

#include <csrc/nn/utils/parametrize.h>
#include <torch/types.h>
