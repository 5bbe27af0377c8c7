#pragma once

#include <csrc/nn/modules/rnn.h>
#include <torch/types.h>
