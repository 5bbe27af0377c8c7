#pragma once

#include <torch/nn/options/conv.h>
