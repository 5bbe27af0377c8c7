#pragma once

#include <torch/data/datasets/shared.h>
