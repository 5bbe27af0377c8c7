#pragma once

#include <csrc/nn/init.h>
#include <torch/types.h>
