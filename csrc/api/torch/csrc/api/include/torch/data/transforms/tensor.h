#pragma once

#include <torch/data/transforms/tensor.h>
