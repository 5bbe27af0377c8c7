#pragma once

#include <torch/nn/functional/activation.h>
