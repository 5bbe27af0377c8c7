#pragma once

#include <csrc/optim/schedulers/reduce_on_plateau_scheduler.h>
