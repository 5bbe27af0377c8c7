#pragma once

#include <torch/data/datasets/chunk.h>
