#pragma once

#include <csrc/nn/options.h>
#include <torch/types.h>
