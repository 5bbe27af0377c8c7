#pragma once

#include <torch/nn/utils/parametrizations.h>
