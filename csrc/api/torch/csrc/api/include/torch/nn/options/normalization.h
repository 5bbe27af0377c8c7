#pragma once

#include <torch/nn/options/normalization.h>
