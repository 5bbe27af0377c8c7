#pragma once

#include <torch/optim/lbfgs.h>
