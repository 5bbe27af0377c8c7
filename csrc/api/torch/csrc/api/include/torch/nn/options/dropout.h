#pragma once

#include <torch/nn/options/dropout.h>
