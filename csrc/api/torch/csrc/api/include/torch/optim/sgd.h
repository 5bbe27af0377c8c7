#pragma once

#include <torch/optim/sgd.h>
