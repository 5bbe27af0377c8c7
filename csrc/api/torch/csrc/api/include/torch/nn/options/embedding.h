#pragma once

#include <torch/nn/options/embedding.h>
