#pragma once

#include <csrc/nn/utils/orthogonal.h>
#include <csrc/nn/utils/parametrizations.h>
#include <torch/types.h>
