#pragma once

#include <torch/optim/rprop.h>
