#pragma once

#include <torch/nn/functional/distance.h>
