#pragma once

#include <csrc/nn/modules/container/any_value.h>
#include <torch/types.h>
