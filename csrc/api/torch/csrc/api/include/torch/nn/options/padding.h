#pragma once

#include <torch/nn/options/padding.h>
