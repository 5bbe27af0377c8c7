#pragma once

#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>
