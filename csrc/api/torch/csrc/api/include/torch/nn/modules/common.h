#pragma once

#include <torch/nn/modules/common.h>
