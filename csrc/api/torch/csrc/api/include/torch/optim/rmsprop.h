#pragma once

#include <torch/optim/rmsprop.h>
