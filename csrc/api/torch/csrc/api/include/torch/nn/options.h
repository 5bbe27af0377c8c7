#pragma once

#include <torch/nn/options.h>
