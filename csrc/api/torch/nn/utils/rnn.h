#pragma once

#include <csrc/nn/utils/rnn.h>
#include <torch/types.h>
