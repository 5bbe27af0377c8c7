#pragma once

#include <torch/nn/modules/distance.h>
