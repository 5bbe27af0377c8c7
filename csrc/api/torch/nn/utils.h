#pragma once

#include <csrc/nn/utils.h>
#include <torch/types.h>
