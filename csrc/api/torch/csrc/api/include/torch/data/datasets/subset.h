#pragma once

#include <torch/data/datasets/subset.h>
