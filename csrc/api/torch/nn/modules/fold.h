#pragma once

#include <csrc/nn/modules/fold.h>
#include <torch/types.h>
