#pragma once

#include <torch/nn/functional/vision.h>
