#pragma once

#include <torch/nn/utils/rnn.h>
