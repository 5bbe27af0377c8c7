#pragma once

#include <torch/optim/optimizer.h>
