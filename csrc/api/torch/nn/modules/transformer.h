#pragma once

#include <csrc/nn/modules/transformer.h>
#include <torch/types.h>
