#pragma once

#include <csrc/nn/traits.h>
#include <torch/types.h>
