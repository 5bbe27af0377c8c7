#pragma once

#include <torch/nn/modules/adaptive.h>
