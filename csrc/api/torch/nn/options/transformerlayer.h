#pragma once

#include <csrc/nn/options/transformerlayer.h>
