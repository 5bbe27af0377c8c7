#pragma once

#include <csrc/nn/Module.h>
#include <torch/types.h>
