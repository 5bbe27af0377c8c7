// All utilities of modules.
#pragma once

#include <csrc/nn/utils/clip_grad.h>
#include <csrc/nn/utils/convert_parameters.h>
#include <csrc/nn/utils/rnn.h>
