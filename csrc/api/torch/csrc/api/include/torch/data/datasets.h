#pragma once

#include <torch/data/datasets.h>
