#pragma once

#include <csrc/nn/utils/cached_parametrizations.h>
#include <csrc/nn/utils/parametrize.h>
#include <torch/types.h>
