#pragma once

#include <csrc/nn/modules/adaptive.h>
#include <torch/types.h>
