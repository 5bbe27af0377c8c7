#pragma once

#include <torch/nn/options/loss.h>
