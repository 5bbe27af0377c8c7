#pragma once

#include <torch/nn/functional/dropout.h>
