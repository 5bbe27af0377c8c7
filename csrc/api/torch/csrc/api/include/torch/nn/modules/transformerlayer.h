#pragma once

#include <torch/nn/modules/transformerlayer.h>
