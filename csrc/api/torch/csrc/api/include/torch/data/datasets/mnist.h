#pragma once

#include <torch/data/datasets/mnist.h>
