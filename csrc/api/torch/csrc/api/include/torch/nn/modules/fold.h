#pragma once

#include <torch/nn/modules/fold.h>
