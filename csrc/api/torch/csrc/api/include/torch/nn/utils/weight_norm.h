#pragma once

#include <torch/nn/utils/weight_norm.h>
