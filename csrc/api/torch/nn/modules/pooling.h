#pragma once

#include <csrc/nn/modules/pooling.h>
#include <torch/types.h>
