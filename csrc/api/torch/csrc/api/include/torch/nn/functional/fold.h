#pragma once

#include <torch/nn/functional/fold.h>
