#pragma once

#include <torch/data/datasets/tensor.h>
