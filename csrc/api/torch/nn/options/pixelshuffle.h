#pragma once

#include <csrc/nn/options/pixelshuffle.h>
