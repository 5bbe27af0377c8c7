#pragma once

#include <torch/nn/modules/loss.h>
