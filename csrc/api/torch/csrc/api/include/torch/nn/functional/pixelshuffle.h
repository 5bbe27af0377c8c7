#pragma once

#include <torch/nn/functional/pixelshuffle.h>
