#pragma once

#include <torch/nn/functional/embedding.h>
