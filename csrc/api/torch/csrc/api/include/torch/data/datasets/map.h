#pragma once

#include <torch/data/datasets/map.h>
