#pragma once

#include <csrc/nn/modules/transformerlayer.h>
#include <torch/types.h>
