#pragma once

#include <csrc/nn/modules/pixelshuffle.h>
#include <torch/types.h>
