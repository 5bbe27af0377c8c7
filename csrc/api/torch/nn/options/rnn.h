#pragma once

#include <csrc/nn/options/rnn.h>
