#pragma once

#include <torch/nn/options/linear.h>
