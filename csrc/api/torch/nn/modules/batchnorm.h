#pragma once

#include <csrc/nn/modules/batchnorm.h>
#include <torch/types.h>
