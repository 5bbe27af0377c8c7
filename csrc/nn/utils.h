// All utilities of modules.
#pragma once

#include <csrc/nn/utils/cached_parametrizations.h>
#include <csrc/nn/utils/clip_grad.h>
#include <csrc/nn/utils/convert_parameters.h>
#include <csrc/nn/utils/orthogonal.h>
#include <csrc/nn/utils/parametrizations.h>
#include <csrc/nn/utils/parametrize.h>
#include <csrc/nn/utils/rnn.h>
#include <csrc/nn/utils/spectral_norm.h>
#include <csrc/nn/utils/weight_norm.h>
