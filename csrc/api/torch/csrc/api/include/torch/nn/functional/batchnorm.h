#pragma once

#include <torch/nn/functional/batchnorm.h>
