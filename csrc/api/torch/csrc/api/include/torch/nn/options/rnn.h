#pragma once

#include <torch/nn/options/rnn.h>
