#pragma once

#include <torch/nn/functional/normalization.h>
