#pragma once

#include <csrc/nn/modules/container/modulelist.h>
#include <torch/types.h>
