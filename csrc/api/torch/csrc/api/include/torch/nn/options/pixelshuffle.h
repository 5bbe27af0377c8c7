#pragma once

#include <torch/nn/options/pixelshuffle.h>
