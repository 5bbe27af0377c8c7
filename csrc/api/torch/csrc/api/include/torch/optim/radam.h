#pragma once

#include <torch/optim/radam.h>
