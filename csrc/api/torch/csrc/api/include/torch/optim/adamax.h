#pragma once

#include <torch/optim/adamax.h>
