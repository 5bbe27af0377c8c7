#pragma once

#include <csrc/nn/modules/loss.h>
#include <torch/types.h>
