#pragma once

#include <csrc/nn/modules/container/sequential.h>
#include <torch/types.h>
