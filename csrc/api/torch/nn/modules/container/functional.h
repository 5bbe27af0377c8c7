#pragma once

#include <csrc/nn/modules/container/functional.h>
#include <torch/types.h>
