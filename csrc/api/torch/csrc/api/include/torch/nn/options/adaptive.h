#pragma once

#include <torch/nn/options/adaptive.h>
