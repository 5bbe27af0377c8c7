#pragma once

#include <csrc/nn/modules/container/named_any.h>
#include <torch/types.h>
