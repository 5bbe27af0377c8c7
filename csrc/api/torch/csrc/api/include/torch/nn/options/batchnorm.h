#pragma once

#include <torch/nn/options/batchnorm.h>
