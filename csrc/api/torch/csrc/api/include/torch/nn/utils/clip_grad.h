#pragma once

#include <torch/nn/utils/clip_grad.h>
