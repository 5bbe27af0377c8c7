#pragma once

#include <torch/nn/functional/pooling.h>
