#pragma once

#include <torch/nn/options/vision.h>
