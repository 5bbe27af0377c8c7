#pragma once

#include <csrc/nn/modules/container/moduledict.h>
#include <torch/types.h>
