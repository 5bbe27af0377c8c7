// All options.
#pragma once

#include <csrc/nn/options/activation.h>
#include <csrc/nn/options/adaptive.h>
#include <csrc/nn/options/batchnorm.h>
#include <csrc/nn/options/conv.h>
#include <csrc/nn/options/distance.h>
#include <csrc/nn/options/dropout.h>
#include <csrc/nn/options/embedding.h>
#include <csrc/nn/options/fold.h>
#include <csrc/nn/options/instancenorm.h>
#include <csrc/nn/options/linear.h>
#include <csrc/nn/options/loss.h>
#include <csrc/nn/options/normalization.h>
#include <csrc/nn/options/padding.h>
#include <csrc/nn/options/pixelshuffle.h>
#include <csrc/nn/options/pooling.h>
#include <csrc/nn/options/rnn.h>
#include <csrc/nn/options/transformer.h>
#include <csrc/nn/options/transformercoder.h>
#include <csrc/nn/options/transformerlayer.h>
#include <csrc/nn/options/upsampling.h>
#include <csrc/nn/options/vision.h>
