#pragma once

#include <torch/nn/modules/utils.h>
