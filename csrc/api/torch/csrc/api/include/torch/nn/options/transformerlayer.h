#pragma once

#include <torch/nn/options/transformerlayer.h>
