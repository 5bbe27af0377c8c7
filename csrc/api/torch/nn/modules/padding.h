#pragma once

#include <csrc/nn/modules/padding.h>
#include <torch/types.h>
