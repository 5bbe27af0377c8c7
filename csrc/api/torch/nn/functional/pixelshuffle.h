#pragma once

#include <csrc/nn/functional/pixelshuffle.h>
