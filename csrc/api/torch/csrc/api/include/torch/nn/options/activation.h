#pragma once

#include <torch/nn/options/activation.h>
