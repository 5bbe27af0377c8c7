#pragma once

#include <torch/nn/modules/padding.h>
