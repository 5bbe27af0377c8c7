#pragma once

#include <torch/optim/swa_utils.h>
