#pragma once

#include <csrc/nn/modules/embedding.h>
#include <torch/types.h>
