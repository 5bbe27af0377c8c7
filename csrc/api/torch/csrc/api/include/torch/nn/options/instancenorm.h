#pragma once

#include <torch/nn/options/instancenorm.h>
