#pragma once

#include <torch/data/datasets/cifar.h>
