#pragma once

#include <torch/nn/options/pooling.h>
