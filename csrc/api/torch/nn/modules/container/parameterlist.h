#pragma once

#include <csrc/nn/modules/container/parameterlist.h>
#include <torch/types.h>
