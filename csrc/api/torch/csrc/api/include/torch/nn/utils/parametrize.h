#pragma once

#include <torch/nn/utils/parametrize.h>
