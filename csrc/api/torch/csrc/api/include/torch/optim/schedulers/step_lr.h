#pragma once

#include <torch/optim/schedulers/step_lr.h>
