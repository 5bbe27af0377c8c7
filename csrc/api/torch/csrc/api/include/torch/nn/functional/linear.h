#pragma once

#include <torch/nn/functional/linear.h>
