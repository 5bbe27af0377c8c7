#pragma once

#include <csrc/nn/modules.h>
#include <torch/types.h>
