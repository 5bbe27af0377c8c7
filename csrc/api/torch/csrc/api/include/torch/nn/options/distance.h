#pragma once

#include <torch/nn/options/distance.h>
