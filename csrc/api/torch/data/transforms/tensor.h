#pragma once

#include <csrc/data/transforms/tensor.h>
