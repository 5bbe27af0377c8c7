#pragma once

#include <csrc/data/datasets/tensor.h>
