#pragma once

#include <torch/optim/schedulers/cycle_schedulers.h>
