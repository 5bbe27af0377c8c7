#pragma once

#include <torch/optim/asgd.h>
