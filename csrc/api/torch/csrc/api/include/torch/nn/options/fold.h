#pragma once

#include <torch/nn/options/fold.h>
