#pragma once

#include <torch/nn/utils/spectral_norm.h>
