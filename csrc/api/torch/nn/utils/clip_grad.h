#pragma once

#include <csrc/nn/utils/clip_grad.h>
#include <torch/types.h>
