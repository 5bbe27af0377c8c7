#pragma once

#include <torch/nn/functional/upsampling.h>
