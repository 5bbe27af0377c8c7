#pragma once

#include <csrc/nn/modules/container/any.h>
#include <torch/types.h>
