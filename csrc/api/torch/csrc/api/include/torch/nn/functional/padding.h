#pragma once

#include <torch/nn/functional/padding.h>
