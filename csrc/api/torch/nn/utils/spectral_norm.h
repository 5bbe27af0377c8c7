#pragma once

#include <csrc/nn/utils/spectral_norm.h>
#include <torch/types.h>
