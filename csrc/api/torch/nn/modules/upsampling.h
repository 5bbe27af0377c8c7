#pragma once

#include <csrc/nn/modules/upsampling.h>
#include <torch/types.h>
