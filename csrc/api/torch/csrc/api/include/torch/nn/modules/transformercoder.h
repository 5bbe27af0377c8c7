#pragma once

#include <torch/nn/modules/transformercoder.h>
