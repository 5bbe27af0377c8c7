#pragma once

#include <csrc/nn/modules/instancenorm.h>
#include <torch/types.h>
