#pragma once

#include <csrc/nn/modules/transformercoder.h>
#include <torch/types.h>
