#pragma once

#include <torch/nn/functional/loss.h>
