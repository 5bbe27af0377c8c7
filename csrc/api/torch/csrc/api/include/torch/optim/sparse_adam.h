#pragma once

#include <torch/optim/sparse_adam.h>
