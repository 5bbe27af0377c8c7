#pragma once

#include <torch/data/datasets/stateful.h>
