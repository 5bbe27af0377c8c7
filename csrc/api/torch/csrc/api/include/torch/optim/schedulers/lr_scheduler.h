#pragma once

#include <torch/optim/schedulers/lr_scheduler.h>
