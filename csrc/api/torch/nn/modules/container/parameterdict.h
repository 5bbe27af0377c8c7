#pragma once

#include <csrc/nn/modules/container/parameterdict.h>
#include <torch/types.h>
