#pragma once

#include <torch/nn/options/transformer.h>
