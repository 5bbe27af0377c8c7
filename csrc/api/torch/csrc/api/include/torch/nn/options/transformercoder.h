#pragma once

#include <torch/nn/options/transformercoder.h>
