#pragma once

#include <torch/data/transforms/stack.h>
