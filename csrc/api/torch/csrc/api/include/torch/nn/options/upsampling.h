#pragma once

#include <torch/nn/options/upsampling.h>
