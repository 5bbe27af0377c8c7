// Functions of neural networks.
#pragma once

#include <csrc/nn/functional/activation.h>
#include <csrc/nn/functional/batchnorm.h>
#include <csrc/nn/functional/conv.h>
#include <csrc/nn/functional/detail.h>
#include <csrc/nn/functional/distance.h>
#include <csrc/nn/functional/dropout.h>
#include <csrc/nn/functional/embedding.h>
#include <csrc/nn/functional/fold.h>
#include <csrc/nn/functional/instancenorm.h>
#include <csrc/nn/functional/linear.h>
#include <csrc/nn/functional/loss.h>
#include <csrc/nn/functional/normalization.h>
#include <csrc/nn/functional/padding.h>
#include <csrc/nn/functional/pixelshuffle.h>
#include <csrc/nn/functional/pooling.h>
#include <csrc/nn/functional/upsampling.h>
#include <csrc/nn/functional/vision.h>
