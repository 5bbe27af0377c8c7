#pragma once

#include <torch/optim/nadam.h>
