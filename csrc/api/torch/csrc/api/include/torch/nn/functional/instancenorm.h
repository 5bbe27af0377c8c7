#pragma once

#include <torch/nn/functional/instancenorm.h>
