#pragma once

#include <torch/nn/utils/convert_parameters.h>
